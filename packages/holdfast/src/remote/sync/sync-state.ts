import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { compareUtf8 } from '@holdfast/core'
import writeFileAtomic from 'write-file-atomic'
import { userDirectory } from '../profile.ts'

/** What is remembered of the pair of a directory and a folder on a server. */
export interface SyncState {
  /** The lists that earlier runs have recorded, each in ascending order of names; they can be read several times. */
  readonly records: readonly AsyncIterable<SyncRecord>[]
  /** Records a file; call it in ascending order of names. */
  add(record: SyncRecord): Promise<void>
  /** Replaces the remembered lists by the new one, or adds it, or drops it. */
  close(how: 'replace' | 'add' | 'forget'): Promise<void>
  /** The URLs of unfinished uploads, by the digests of their contents. */
  readonly uploads: UploadUrls
}

export interface UploadUrls {
  get(name: string, sha256: string): Promise<string | undefined>
  set(name: string, sha256: string, url: string): Promise<void>
  delete(name: string, sha256: string): Promise<void>
  /** Removes and yields the URLs that earlier runs have left and that `get` has not been called for since. */
  takeUnasked(): AsyncIterable<string>
}

/** The list of the last run that was complete. */
const wholeList = 'state.jsonl'

/** Runs that end early again and again leave more lists than this; the oldest are removed. */
const mostLists = 8

/** Characters per write; a run that is killed loses at most so many. */
const writtenAtOnce = 16 * 1024

/** Where the state of `identity` is stored. */
export function stateDirectory(
  environment: NodeJS.ProcessEnv,
  identity: readonly string[],
): string {
  return join(userDirectory('XDG_STATE_HOME', environment), 'sync', hashOf(...identity))
}

/**
 * Opens the state in `directory`. A run that ends early leaves a list of its own, and so does a run at the same time. All lists are read,
 * since each record can be checked.
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
    records: filled
      .slice(0, mostLists)
      .map((name) => ({ [Symbol.asyncIterator]: () => readRecords(join(directory, name)) })),
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
      // A run that began later may have been faster, and removed it.
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

/** Reads the list while it is in order and complete: a run may have been killed while it wrote. */
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
    // Files without a record are compared.
  }
}

/**
 * The lists of earlier runs: first the complete one, then the newest first. Each contains what those before it had, as far as its run got.
 */
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
  /** Here, relative to the directory; `undefined` in records of older versions. */
  readonly path?: string | undefined
  readonly size: number
  /** The version of the local file; '' if it may have changed since while `version` stayed the same. */
  readonly version: string
  /** Of the content, in hexadecimal. */
  readonly sha256: string
  /** The file's version on the server. */
  readonly etag: string
}

/** Parses a line of the state; `undefined` if it is cut off or damaged. */
function parseRecord(line: string): SyncRecord | undefined {
  try {
    const { name, path, size, version, sha256, etag } = JSON.parse(line) as Partial<SyncRecord>
    const isWhole =
      typeof name === 'string' &&
      (path === undefined || typeof path === 'string') &&
      typeof size === 'number' &&
      typeof version === 'string' &&
      typeof sha256 === 'string' &&
      typeof etag === 'string'
    return isWhole ? { name, path, size, version, sha256, etag } : undefined
  } catch {
    return undefined
  }
}
