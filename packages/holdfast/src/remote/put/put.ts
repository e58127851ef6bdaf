import { basename, join } from 'node:path'
import { stat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { constants, createReadStream, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { createHash } from 'node:crypto'
import {
  openFile,
  type FileToUpload,
  type UploadBody,
  type UploadOptions,
  type RereadableBody,
} from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import writeFileAtomic from 'write-file-atomic'
import { parseConcurrency } from '../../flags.ts'
import { forEachName, endsCommand } from '../names.ts'
import { withTransfers, type Remote, type RemoteWithScreen } from '../session.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  textIn,
  withConcurrency,
  withLimitRate,
  withJson,
  withWords,
} from '../client-verb.ts'
import { usageError, CommandError, exitCodes, isRefusedOnTheWay } from '../errors.ts'
import { listedIn, selectionIn, withSelection } from '../selection.ts'
import { createTotal, type Report, type Total } from '../report.ts'
import { filesInDirectories, filesToPut, refuseSameNames, type FileToPut } from './files-to-put.ts'
import { userDirectory, type Login } from '../profile.ts'
import { off } from '../../terminal/yargs.ts'

/** `holdfast put FILE…`. */
export const put: ClientVerb = {
  command: 'put [names..]',
  words: 'PATH...',
  describe: 'Upload files',
  flags: ['as', 'no-clobber', 'recursive', 'concurrency'],
  options: (yargs) =>
    withSelection(
      withLimitRate(
        withConcurrency(withJson(withWords(yargs, 'Files of this machine; - for standard input'))),
      ),
      'files',
      'Also the files that this file lists',
    )
      .option('recursive', {
        alias: 'r',
        ...off,
        describe:
          'Upload all files in directories, too; photos/sea/a.jpg becomes "photos - sea - a.jpg"',
      })
      .option('as', {
        type: 'string',
        requiresArg: true,
        describe: 'The name on the server, for one file; without it, the last part of the path',
      })
      .option('no-clobber', {
        ...off,
        describe: 'Replace no file: a file whose name is taken fails',
      })
      .example('$0 put *.jpg', '')
      .example("$0 put -r photos --exclude '*.tmp'", '')
      .example('tar c dir | $0 put - --as dir.tar', '')
      .epilog(
        'A file that is reported as stored is safe. The same command again continues a large file where it stopped. Directories are refused without -r. To send only what is new or changed in one, see sync.',
      ),
  run: runPut,
}

/** Uploads files, several requests at a time; resolves with the exit code. */
async function runPut(argv: VerbArguments): Promise<number> {
  const given = [...namesIn(argv), ...((await listedIn(argv)) ?? [])]
  const selection = selectionIn(argv)
  const isRecursive = argv['recursive'] === true
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const isCreateOnly = argv['no-clobber'] === true
  const as = textIn(argv, 'as')
  // A mistake is reported before directories are read, or anything is sent.
  if (!isRecursive) filesToPut(given, as)
  else if (as !== undefined) throw usageError('--as is the name of one file; leave out -r.')
  return withTransfers(argv, async (transfers) => {
    const total = createTotal()
    const remote = { ...transfers, total }
    const bounds = { ...remote, concurrency }
    const found = isRecursive
      ? await filesInDirectories(given, selection, remote)
      : filesToPut(given, as).filter(({ path }) => selection.isSelected(basename(path)))
    refuseSameNames(found)
    await forEachName(
      inBatches(found),
      ([file]) => file.path,
      bounds,
      ([file, ...others], signal) => {
        const put = (one: FileToPut) => putFile(one, isCreateOnly, { ...remote, signal })
        if (others.length === 0) return put(file)
        return putBatch([file, ...others], isCreateOnly, { ...remote, signal }, put)
      },
    )
    const sum = total.text()
    if (sum !== undefined) remote.report.total(`${sum} in all`)
  })
}

interface PutRemote extends Remote {
  /** What was stored. */
  readonly total?: Total
}

/** A larger file gains nothing from sharing a request. */
const smallSize = 256 * 1024

/** Proxies often take bodies of up to 1 MiB; more files in a request would hardly be faster. */
const batchLimits = { files: 250, bytes: 512 * 1024 }

/** Files of one request. */
type Batch = readonly [FileToPut, ...FileToPut[]]

/** Groups the files, in their order: small ones share a batch, any other is alone. */
export async function* inBatches(files: readonly FileToPut[]): AsyncGenerator<Batch, void> {
  let batch: [FileToPut, ...FileToPut[]] | undefined
  let bytes = 0
  for (const file of files) {
    const size = await sizeOf(file)
    if (size === undefined || size > smallSize) {
      yield [file]
      continue
    }
    if (batch && batch.length < batchLimits.files && bytes + size <= batchLimits.bytes) {
      batch.push(file)
      bytes += size
      continue
    }
    if (batch) yield batch
    batch = [file]
    bytes = size
  }
  if (batch) yield batch
}

/** The size; `undefined` for what is no regular file, cannot be inspected, or has to be read as a stream. */
async function sizeOf({ path }: FileToPut): Promise<number | undefined> {
  if (path === '-') return undefined
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return undefined
  if (found.size > 0) return found.size
  // A size of 0 may mean that the size is unknown.
  const opened = await openFile(path).catch(() => undefined)
  return opened?.size
}

/**
 * Uploads small files in one request. Each is stored or fails on its own, and is reported on its own.
 *
 * @throws the errors after which the rest of the command is pointless
 */
export async function putBatch(
  files: readonly FileToPut[],
  createOnly: boolean,
  { client, answers, report, signal, total }: PutRemote,
  putAlone: (file: FileToPut) => Promise<void>,
): Promise<void> {
  const left = new Map(files.map((file) => [file.name, { ...file, size: 0 }]))
  const end = async (name: string, error?: unknown) => {
    const file = left.get(name)
    if (!file) return
    left.delete(name)
    if (error === undefined) await reportStored(file, report, total)
    else await report.failed(file.path, error)
  }
  async function* contents(): AsyncGenerator<FileToUpload, void> {
    for (const file of left.values()) {
      try {
        const body = await openFile(file.path)
        file.size = body.size
        yield { name: file.name, body }
      } catch (error) {
        await end(file.name, error)
      }
    }
  }
  try {
    const results = client.uploadMany(contents(), { createOnly, signal })
    for await (const { name, error } of results) await end(name, error)
  } catch (error) {
    if (signal.aborted || (await endsCommand(error, { answers, signal }))) throw error
    // A proxy may refuse the request for one of them. Otherwise files without a result may or may not be stored.
    for (const file of left.values()) {
      if (!isRefusedOnTheWay(error)) await end(file.name, error)
      else {
        await putAlone(file).catch((failure: unknown) => {
          if (signal.aborted) throw failure
          return end(file.name, failure)
        })
      }
    }
  }
}

/** Uploads one file, or a stream; resumes a large file where an earlier command stopped. */
async function putFile(
  { path, name }: FileToPut,
  isCreateOnly: boolean,
  remote: PutRemote & RemoteWithScreen,
): Promise<void> {
  const { login, report } = remote
  const { body, version } = await openLocal(path)
  const knownSize = 'size' in body ? body.size : undefined
  const display = remote.screen.begin(name, knownSize)
  let size = knownSize ?? 0
  const options: UploadOptions = {
    createOnly: isCreateOnly,
    signal: remote.signal,
    onProgress: ({ sent }) => {
      size = Math.max(size, sent)
      display.update(sent)
    },
  }
  try {
    if (version) {
      const identity = { login, name, isCreateOnly, version }
      const record = uploadRecord(recordsDirectory(process.env), identity)
      await uploadRecorded(name, body, options, record, remote)
    } else await remote.client.upload(name, body, options)
  } finally {
    display.end()
    // A stalled stream would keep the process from ending.
    if (body instanceof Readable) body.destroy()
  }
  await reportStored({ name, path, size }, report, remote.total)
}

/** Reports that a file is safe on the server. */
async function reportStored(
  { name, path, size }: FileToPut & { readonly size: number },
  report: Report,
  total?: Total,
): Promise<void> {
  total?.add(size)
  await report.done({ name, path, size }, `${path} is stored as ${name}, ${formatBytes(size)}`)
}

async function uploadRecorded(
  name: string,
  body: UploadBody,
  options: UploadOptions,
  record: UploadRecord,
  { client, report }: RemoteWithScreen,
): Promise<void> {
  const uploadUrl = await record.read()
  let isFirst = uploadUrl !== undefined
  let kept: Promise<void> | undefined
  await client.upload(name, body, {
    ...options,
    uploadUrl,
    onUploadUrl(url) {
      if (url === uploadUrl) return
      // Without the record a later command starts again, which is no reason to fail.
      kept = record.keep(url).catch(() => {})
    },
    onProgress(progress) {
      if (isFirst && progress.sent > 0)
        report.inform(`${name} continues at ${formatBytes(progress.sent)}`)
      isFirst = false
      options.onProgress?.(progress)
    },
  })
  await kept
  // The file is stored. If the record cannot be removed, a later command starts again, at worst.
  await record.forget().catch(() => {})
}

/** The content of a path: a file, whose upload can be resumed, or a stream, whose upload cannot. */
type LocalBody =
  | { readonly body: RereadableBody; readonly version: UploadVersion }
  | { readonly body: Readable; readonly version: undefined }

/**
 * Opens what is at `path`; `-` is standard input.
 *
 * @throws CommandError for a directory; what `node:fs` throws
 */
export async function openLocal(
  path: string,
  open = (file: string) => openFile(file, { mayBlock: true }),
): Promise<LocalBody> {
  if (path === '-') return { body: process.stdin, version: undefined }
  const found = await stat(path)
  if (found.isDirectory()) {
    throw new CommandError(
      exitCodes.failed,
      'It is a directory; -r uploads all files in it, and sync those that are new or changed.',
    )
  }
  if (found.isFIFO()) return { body: openPipe(path), version: undefined }
  // A size of 0 may mean that the size is unknown, as in /proc.
  const isStream = !found.isFile() || found.size === 0
  if (isStream) return { body: createReadStream(path), version: undefined }
  const body = await open(path)
  // Read the version after opening. Otherwise the file could be replaced in between, and this command would continue the old file's upload
  // with the new content. A body whose file is replaced later fails.
  return { body, version: await stat(path, { bigint: true }) }
}

/** Opens a pipe without a thread: one that waits for the writer would keep the process from ending. */
function openPipe(path: string): Readable {
  // On other systems a pipe without a writer looks like one that has ended.
  if (process.platform !== 'linux') return createReadStream(path)
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}

/** Identifies an upload. Another version of the file is another upload, so that no mixture of two is stored. */
interface UploadIdentity {
  readonly login: Login
  readonly name: string
  readonly isCreateOnly: boolean
  readonly version: UploadVersion
}

/** Differs after a file was replaced or written to. */
interface UploadVersion {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Remembers the URL of an upload on the server, for the next command. */
interface UploadRecord {
  /** The URL of the upload, if it was begun. */
  read(): Promise<string | undefined>
  keep(uploadUrl: string): Promise<void>
  forget(): Promise<void>
}

/** The age at which a record is removed. By default, a server's uploads expire after 7 days. */
const expiryMs = 30 * 24 * 60 * 60 * 1000

/** Where records are kept. */
function recordsDirectory(environment: NodeJS.ProcessEnv): string {
  return join(userDirectory('XDG_STATE_HOME', environment), 'uploads')
}

/** The record of one upload in `directory`. */
function uploadRecord(directory: string, identity: UploadIdentity): UploadRecord {
  const path = join(directory, `${keyOf(identity)}.json`)
  return {
    async read() {
      try {
        const { url } = JSON.parse(await readFile(path, 'utf8')) as { url?: unknown }
        // A request to this URL carries the password.
        return typeof url === 'string' && isOf(url, identity.login.url) ? url : undefined
      } catch {
        // Without the record the upload starts again.
        return undefined
      }
    },
    async keep(url) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await removeExpired(directory)
      await writeFileAtomic(path, `${JSON.stringify({ url, name: identity.name })}\n`, {
        mode: 0o600,
      })
    },
    forget: () => rm(path, { force: true }),
  }
}

function keyOf({ login, name, isCreateOnly, version }: UploadIdentity): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = version
  const file = [dev, ino, size, mtimeNs, ctimeNs].map(String)
  const parts = [login.url, login.name, name, isCreateOnly, ...file]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

function isOf(url: string, server: string): boolean {
  return URL.parse(url)?.origin === new URL(server).origin
}

async function removeExpired(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > expiryMs) await rm(path, { force: true })
  }
}
