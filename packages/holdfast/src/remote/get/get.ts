import {
  closeSync,
  fdatasync,
  fstatSync,
  fsync,
  renameSync,
  statSync,
  write,
  writeSync,
  type Stats,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isHoldfastError, type Download } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { parseConcurrency } from '../../settings/flags.ts'
import { expandNames } from '../names/expand-names.ts'
import { forEachName } from '../names/for-each-name.ts'
import { withTransfers, type RemoteWithScreen } from '../session/with-remote.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  textIn,
  withConcurrency,
  withNames,
  withVersion,
} from '../verb/client-verb.ts'
import {
  listPartials,
  findPartial,
  openPartial,
  removePartial,
  durableBytesOf,
  type PartialIdentity,
  syncStep,
} from './partial-files.ts'
import { runCat } from './cat.ts'
import {
  createReplacePermissions,
  hasOtherContent,
  type ReplacePermission,
  type ReplacePermissions,
  createTargets,
  pathOf,
  type Target,
} from './targets.ts'
import { CommandError, exitCodes, usageError } from '../errors/command-error.ts'

/** `holdfast get NAME…`. */
export const get: ClientVerb = {
  command: 'get [names..]',
  describe: 'Download files',
  flags: ['output', 'force', 'version', 'concurrency'],
  options: (yargs) =>
    withVersion(
      withConcurrency(withNames(yargs, 'Files on the server, or patterns such as "*.jpg"')),
      'An earlier version of one file, as `versions` prints it',
    )
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'A directory, or the path of one file, or - for standard output; by default here',
      })
      .option('force', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Replace files of this machine that differ, without a question',
      })
      .example('$0 get "*.jpg" -o pictures/', '')
      .epilog(
        'A file appears only when it is complete and synced; until then its content is in .holdfast-….part, in the same directory. A different file of that name is replaced only with --force, after a question on a terminal, or if -o names the file itself. The same command again continues a large file where it stopped, unless the file has changed on the server.',
      ),
  run: runGet,
}

/** Downloads files, several at a time; resolves with the exit code. */
async function runGet(argv: VerbArguments): Promise<number> {
  const output = textIn(argv, 'output')
  const words = namesIn(argv)
  const version = textIn(argv, 'version')
  if (version !== undefined && words.length > 1) {
    throw usageError('--version is for one file, and there are several names.')
  }
  const literal = argv.literal === true || version !== undefined
  if (output === '-') return runCat({ ...argv, literal })
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const targets = await createTargets(output, words, literal)
  const { directory } = targets
  const partials = await listPartials(directory)
  return withTransfers(argv, async (remote) => {
    const destination = {
      partials,
      sync: createDirectorySync(directory),
      permissions: createReplacePermissions(argv['force'] === true, remote.screen),
    }
    const bounds = { ...remote, concurrency }
    await forEachName(expandNames(words, { literal }, remote), String, bounds, (name, signal) =>
      getFile({ name, version }, targets.of(name), destination, { ...remote, signal }),
    )
  })
}

/** A file on the server, or an earlier version of it. */
interface RemoteFile {
  readonly name: string
  readonly version?: string | undefined
}

/** The directory that files go to. */
export interface Destination {
  /** The partial files that earlier commands have left in it. */
  readonly partials: readonly string[]
  readonly sync: DirectorySync
  readonly permissions: ReplacePermissions
}

/** Downloads a file to its target path, where it appears only when it is complete; resumes where an earlier command stopped. */
export async function getFile(
  file: RemoteFile,
  target: Target,
  destination: Destination,
  remote: RemoteWithScreen,
): Promise<void> {
  const { name, version } = file
  const path = pathOf(target)
  const found = fileAt(path)
  const { client, signal } = remote
  const permission = destination.permissions.of(target, signal)
  // If the sizes are equal, only the complete download shows whether the contents differ.
  if (found && permission.mustAsk && version === undefined) {
    const { size } = await client.stat(name, { isRounded: true, signal })
    if (size !== found.size) await permission.ask()
  }
  const identity = { login: remote.login, name, target }
  const download = await begin(file, identity, destination.partials, remote)
  try {
    await receive(download, identity, destination.sync, permission, remote)
  } finally {
    // Does nothing to a body that has been read.
    await download.body.cancel().catch(() => {})
  }
  const { size, etag } = download
  await remote.report.done(
    { name, path, size, etag },
    `${path} is downloaded, ${formatBytes(size)}`,
  )
}

/** The file at `path`, if there is one. Refuses anything else: the download is renamed over it, and would replace it. */
function fileAt(path: string): Stats | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found || found.isFile()) return found
  throw new CommandError(
    exitCodes.failed,
    `${path} is not a regular file; for a device or a pipe, use cat.`,
  )
}

async function begin(
  { name, version }: RemoteFile,
  identity: PartialIdentity,
  partials: readonly string[],
  { client, report, signal }: RemoteWithScreen,
): Promise<Download> {
  const partial = findPartial(identity, partials)
  if (partial && partial.durableBytes > 0) {
    const { etag, durableBytes } = partial
    try {
      const download = await client.download(name, {
        version,
        start: durableBytes,
        ifMatch: etag,
        reuseMemory: true,
        signal,
      })
      report.note(
        `${name} continues at ${formatBytes(durableBytes)} of ${formatBytes(download.size)}`,
      )
      return download
    } catch (error) {
      if (!isHoldfastError(error, 'precondition-failed')) throw error
      report.note(`${name} has changed on the server; the download starts again`)
    }
    await removePartial(partial.path)
  }
  return client.download(name, { version, reuseMemory: true, signal })
}

/**
 * Calls of the file system that do not wait for the disk are synchronous: a small file takes some ten of them, and to use a thread for
 * each takes longer than the file itself.
 */
const syncData = promisify(fdatasync)
const syncFile = promisify(fsync)
const writeByThread = promisify(write)

async function receive(
  download: Download,
  identity: PartialIdentity,
  sync: DirectorySync,
  permission: ReplacePermission,
  { screen }: RemoteWithScreen,
): Promise<void> {
  const { name, size, start, etag, body } = download
  const { file, path, isLasting } = openPartial(identity, etag)
  const display = screen.begin(name, size)
  display.update(start)
  let isWhole = false
  let isRefused = false
  try {
    const end = await writeFrom(file, start, body, (position) => display.update(position))
    await syncFile(file)
    const written = fstatSync(file).size
    if (end !== size || written !== size) {
      throw new CommandError(
        exitCodes.retry,
        `The file has ${size} bytes on the server, but ${written} were written here.`,
      )
    }
    display.end()
    // Ask also if another file has appeared meanwhile.
    if (permission.mustAsk && (await hasOtherContent(file, pathOf(identity.target)))) {
      isRefused = true
      await permission.ask()
      isRefused = false
    }
    isWhole = true
    putInPlace(file, path, pathOf(identity.target))
    await sync()
  } finally {
    display.end()
    closeSync(file)
    const written = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const isWorthKeeping = isLasting && !isRefused && durableBytesOf(written) > 0
    if (!isWhole && !isWorthKeeping) await removePartial(path)
  }
}

/** Bytes. A larger write may wait until the system has written earlier ones, so a thread makes it. */
const largestBlockingWrite = 64 * 1024

/** Writes `body` into `file` from `start` on, and syncs it as it grows; resolves with the end position. Never holds more than a chunk. */
async function writeFrom(
  file: number,
  start: number,
  body: AsyncIterable<Uint8Array>,
  onProgress: (end: number) => void,
): Promise<number> {
  let position = start
  let synced: Promise<void> = Promise.resolve()
  try {
    for await (const chunk of body) {
      for (let taken = 0; taken < chunk.length;) {
        const toBorder = syncStep - (position % syncStep)
        const part = chunk.subarray(taken, taken + toBorder)
        const written =
          part.length <= largestBlockingWrite
            ? writeSync(file, part, 0, part.length, position)
            : (await writeByThread(file, part, 0, part.length, position)).bytesWritten
        taken += written
        position += written
        if (position % syncStep > 0) continue
        await synced
        synced = syncData(file)
        // The next sync awaits it, or the end does.
        synced.catch(() => {})
      }
      onProgress(position)
    }
  } finally {
    // The caller closes the descriptor, which may be another file's before a thread gets to it.
    await synced.catch(() => {})
  }
  await synced
  return position
}

/** Renames the open `file` at `from` to `path`. */
export function putInPlace(file: number, from: string, path: string): void {
  // Another command for the same file was faster, and `from` is now the beginning of a third one's file.
  if (!isAt(file, from) && isAt(file, path)) return
  try {
    renameSync(from, path)
  } catch (error) {
    if (!isAt(file, path)) throw error
  }
}

function isAt(file: number, path: string): boolean {
  const own = fstatSync(file)
  const found = statSync(path, { throwIfNoEntry: false })
  return own.ino === found?.ino && own.dev === found.dev
}

/** Resolves when all changes to a directory before the call survive a power cut. */
type DirectorySync = () => Promise<void>

/**
 * Syncs `directory`. Calls during a sync share the next one.
 *
 * After a failure all later syncs fail: the system reports only once that it has dropped changes, those of others included.
 */
export function createDirectorySync(
  directory: string,
  sync: (path: string) => Promise<void> = syncNow,
): DirectorySync {
  let last = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= last = last.then(() => {
      next = undefined
      return sync(directory)
    })
    return next
  }
}

async function syncNow(path: string): Promise<void> {
  // Windows syncs no directories.
  if (process.platform === 'win32') return
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
