import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { compareUtf8 } from '@holdfast/core'
import writeFileAtomic from 'write-file-atomic'
import { userDirectory } from '../../settings/user-directory.ts'

/** What is remembered of one directory and one place on a server. */
export interface SyncState {
  /** What runs before this one have recorded: lists in ascending order of names. */
  readonly records: readonly AsyncIterable<SyncRecord>[]
  /** Records a file; in ascending order of names. */
  add(record: SyncRecord): Promise<void>
  /** Replaces what was remembered by what has been recorded, or adds it, or forgets it. */
  close(how: 'replace' | 'add' | 'forget'): Promise<void>
  /** The URLs of uploads that are under way, of the contents with these digests. */
  readonly uploads: UploadUrls
}

export interface UploadUrls {
  get(name: string, sha256: string): Promise<string | undefined>
  set(name: string, sha256: string, url: string): Promise<void>
  delete(name: string, sha256: string): Promise<void>
  /** Removes and yields the URLs that earlier runs have left and that `get` has not been asked for since. */
  takeUnasked(): AsyncIterable<string>
}

/** The list of the last run that was not ended early. */
const wholeList = 'state.jsonl'

/** More lists than this are left by runs that were ended early again and again; the oldest of those are removed. */
const mostLists = 8

/** A run that is killed loses so much, in characters. */
const writtenAtOnce = 16 * 1024

/** Where the states are. */
export function stateDirectory(
  environment: NodeJS.ProcessEnv,
  identity: readonly string[],
): string {
  return join(userDirectory('XDG_STATE_HOME', environment), 'sync', hashOf(...identity))
}

/**
 * Opens what is remembered in `directory`. A run that ends early leaves a list of its own, and so does one that runs at the same time;
 * all of them are read, since each record can be checked.
 *
 * @throws what `node:fs` throws
 */
export async function openSyncState(directory: string): Promise<SyncState> {
  await mkdir(join(directory, 'uploads'), { recursive: true, mode: 0o700 })
  const earlier = await listsIn(directory)
  const filled = earlier
    .filter(({ name, size }) => size > 0 || name === wholeList)
    .map(({ name }) => name)
  const remove = (names: readonly string[]) =>
    Promise.all(names.map((name) => rm(join(directory, name), { force: true })))
  const own = join(directory, `part-${randomUUID()}.jsonl`)
  const output = await open(own, 'wx', 0o600)
  let unwritten = ''
  let isEmpty = true
  const write = async () => {
    const text = unwritten
    unwritten = ''
    await output.appendFile(text)
  }
  return {
    records: filled.slice(0, mostLists).map((name) => readRecords(join(directory, name))),
    async add(record) {
      isEmpty = false
      unwritten += `${JSON.stringify(record)}\n`
      if (unwritten.length >= writtenAtOnce) await write()
    },
    async close(how) {
      try {
        await write()
      } finally {
        await output.close()
      }
      if (how === 'forget' || (how === 'add' && isEmpty)) await rm(own, { force: true })
      if (how === 'add') await remove(filled.slice(mostLists))
      if (how !== 'replace') return
      // A run that began later may have been quicker, and has removed it.
      await rename(own, join(directory, wholeList)).catch(ignoreMissing)
      await remove(earlier.map(({ name }) => name).filter((name) => name !== wholeList))
    },
    uploads: await openUploadUrls(join(directory, 'uploads')),
  }
}

/** Remembers nothing. */
export const noSyncState: SyncState = {
  records: [],
  add: async () => {},
  close: async () => {},
  uploads: {
    get: async () => undefined,
    set: async () => {},
    delete: async () => {},
    async *takeUnasked() {},
  },
}

/** Reads as far as the list is in order and whole: a run may have been killed while it wrote. */
async function* readRecords(path: string): AsyncGenerator<SyncRecord, void> {
  let last = ''
  let rest = ''
  try {
    for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const record = parseRecord(line)
        if (record === undefined || compareUtf8(record.name, last) < 0) return
        last = record.name
        yield record
      }
    }
  } catch {
    // What is not remembered is compared.
  }
}

/** The lists of earlier runs: the whole one, then the newest first. Each has what those before it had, as far as its run got. */
async function listsIn(
  directory: string,
): Promise<readonly { readonly name: string; readonly size: number }[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.jsonl'))
  const lists = await Promise.all(
    names.map(async (name) => {
      const { mtimeMs, size } = await stat(join(directory, name)).catch(() => ({
        mtimeMs: 0,
        size: 0,
      }))
      return { name, size, order: name === wholeList ? Infinity : mtimeMs }
    }),
  )
  return lists.sort((a, b) => b.order - a.order)
}

async function openUploadUrls(directory: string): Promise<UploadUrls> {
  const unasked = new Set(await readdir(directory))
  const pathOf = (...identity: readonly string[]) => {
    const name = hashOf(...identity)
    unasked.delete(name)
    return join(directory, name)
  }
  const read = async (path: string) => {
    const url = await readFile(path, 'utf8').catch(() => '')
    return URL.canParse(url) ? url : undefined
  }
  return {
    get: (...identity) => read(pathOf(...identity)),
    set: (name, sha256, url) => writeFileAtomic(pathOf(name, sha256), url, { mode: 0o600 }),
    delete: (...identity) => rm(pathOf(...identity), { force: true }),
    async *takeUnasked() {
      for (const name of unasked) {
        const url = await read(join(directory, name))
        await rm(join(directory, name), { force: true })
        if (url !== undefined) yield url
      }
    },
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** A file that was the same here and on the server. */
export interface SyncRecord {
  readonly name: string
  readonly size: number
  /** The version of the local file; '' if it may have changed since without another version. */
  readonly version: string
  /** Of the content, in hexadecimal. */
  readonly sha256: string
  /** The file's version on the server. */
  readonly etag: string
}

/** A line of the state; `undefined` for one that was cut off or is damaged. */
function parseRecord(line: string): SyncRecord | undefined {
  try {
    const { name, size, version, sha256, etag } = JSON.parse(line) as Partial<SyncRecord>
    const isWhole =
      typeof name === 'string' &&
      typeof size === 'number' &&
      typeof version === 'string' &&
      typeof sha256 === 'string' &&
      typeof etag === 'string'
    return isWhole ? { name, size, version, sha256, etag } : undefined
  } catch {
    return undefined
  }
}
