import { existsSync, statSync, type Stats } from 'node:fs'
import { isHoldfastError, type Client, type Download, type FileToDownload } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { parseConcurrency } from '../../flags.ts'
import { expandNames, forEachName } from '../names.ts'
import { listedIn, selectionIn, withSelection } from '../selection.ts'
import { createTotal, type Total } from '../report.ts'
import { withTransfers, type RemoteWithScreen, withRemote } from '../session.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  textIn,
  withConcurrency,
  withLimitRate,
  withNames,
  withVersion,
} from '../client-verb.ts'
import {
  listPartials,
  findPartial,
  pathOf,
  removePartial,
  type PartialIdentity,
} from './partial-files.ts'
import {
  createDirectorySync,
  createReceiver,
  type DirectorySync,
  type FileReceiver,
} from './receive-file.ts'
import {
  createReplacePermissions,
  hasOtherContent,
  isLocalName,
  type ReplacePermissions,
  createTargets,
  type Target,
  type Targets,
} from './targets.ts'
import { CommandError, exitCodes, usageError } from '../errors.ts'
import { print } from '../../terminal/print.ts'
import { off } from '../../terminal/yargs.ts'

/** `holdfast get NAME…`. */
export const get: ClientVerb = {
  command: 'get [names..]',
  describe: 'Download files',
  flags: ['output', 'force', 'no-clobber', 'version', 'concurrency'],
  options: (yargs) =>
    withVersion(
      withSelection(
        withLimitRate(
          withConcurrency(withNames(yargs, 'Files on the server, or patterns such as "*.jpg"')),
        ),
        'names',
        'Also the names that this file lists',
      ),
      'An earlier version of one file, as `versions` prints it',
    )
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'A directory, or the path of one file, or - for standard output; by default here',
      })
      .option('force', {
        ...off,
        describe: 'Replace files of this machine that differ, without a question',
      })
      .option('no-clobber', {
        ...off,
        describe: 'Leave files that are here as they are, and download only the others',
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
  const listed = await listedIn(argv)
  const selection = selectionIn(argv)
  const isForced = argv['force'] === true
  const isKeeping = argv['no-clobber'] === true
  if (isForced && isKeeping) throw usageError('--force and --no-clobber exclude each other.')
  const version = textIn(argv, 'version')
  if (version !== undefined && words.length + (listed?.length ?? 0) > 1) {
    throw usageError('--version is for one file, and there are several names.')
  }
  const literal = argv.literal === true || version !== undefined
  if (output === '-' && (listed !== undefined || !selection.isWhole)) {
    throw usageError('--exclude, --include and --files-from do not go with -o -.')
  }
  if (output === '-') return runCat({ ...argv, literal })
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const targets = await createTargets(output, [...words, ...(listed ?? [])], literal)
  const { directory } = targets
  const partials = await listPartials(directory)
  return withTransfers(argv, async (remote) => {
    const destination = {
      partials,
      sync: createDirectorySync(directory),
      receiver: createReceiver(),
      isKeeping,
      total: createTotal(),
      permissions: createReplacePermissions(isForced, remote.screen),
    }
    async function* names() {
      // Without any name this says what is missing.
      if (words.length > 0 || listed === undefined) yield* expandNames(words, { literal }, remote)
      if (listed && listed.length > 0) yield* expandNames(listed, { literal: true }, remote)
    }
    async function* selected() {
      for await (const name of names()) if (selection.isSelected(name)) yield name
    }
    const isNew = (name: string) => version === undefined && isNewHere(name, targets)
    const files = togetherWhere(isNew, selected(), remote)
    const bounds = { ...remote, concurrency }
    await forEachName(files, nameOf, bounds, async (file, signal, finishLater) => {
      const target = targets.of(file.name)
      const asked = { version, ...file }
      const { placed } = await getFile(asked, target, destination, { ...remote, signal })
      finishLater(placed)
    })
    const total = destination.total.text()
    if (total !== undefined) remote.report.total(`${total} in all`)
  })
}

/** A file on the server, or an earlier version of it. */
interface RemoteFile {
  readonly name: string
  readonly version?: string | undefined
  /** Starts its download, where it comes together with others. */
  readonly download?: FileToDownload['download'] | undefined
}

const nameOf = ({ name }: RemoteFile) => name

/** Names that share a request: few in the first one, so that it need not wait for many. */
const together = { first: 16, most: 1000 }

/** The files `names`; those that `mayShare` requests do so. */
async function* togetherWhere(
  mayShare: (name: string) => boolean,
  names: AsyncIterable<string>,
  { client, signal }: Pick<RemoteWithScreen, 'client' | 'signal'>,
): AsyncGenerator<RemoteFile, void> {
  const shared: string[] = []
  let most = together.first
  for await (const name of names) {
    if (!mayShare(name)) {
      yield { name }
      continue
    }
    shared.push(name)
    if (shared.length < most) continue
    most = Math.min(4 * most, together.most)
    yield* client.downloadMany(shared.splice(0), { reuseMemory: true, signal })
  }
  yield* client.downloadMany(shared, { reuseMemory: true, signal })
}

/** Whether nothing here has the name that the file would get: otherwise there may be a question first. */
function isNewHere(name: string, targets: Targets): boolean {
  return isLocalName(name) && !existsSync(pathOf(targets.of(name)))
}

/** The directory that files go to. */
export interface Destination {
  /** The partial files that earlier commands have left in it. */
  readonly partials: readonly string[]
  readonly sync: DirectorySync
  readonly receiver: FileReceiver
  readonly permissions: ReplacePermissions
  /** Whether files that are here are left as they are. */
  readonly isKeeping: boolean
  readonly total: Total
}

/**
 * Downloads a file to its target path, where it appears only when it is complete; resumes where an earlier command stopped. Resolves when
 * its content has arrived; `placed` resolves when it is in place and reported.
 */
async function getFile(
  file: RemoteFile,
  target: Target,
  destination: Destination,
  remote: RemoteWithScreen,
): Promise<{ readonly placed: Promise<void> }> {
  const { name, version } = file
  const path = pathOf(target)
  const found = fileAt(path)
  const { client, report, signal } = remote
  if (found && destination.isKeeping) {
    return { placed: report.done({ name, path, skipped: 'exists' }, `${path} is here, and stays`) }
  }
  const permission = destination.permissions.of(target, signal)
  // If the sizes are equal, only the complete download shows whether the contents differ.
  if (found && permission.mustAsk && version === undefined) {
    const { size } = await client.stat(name, { isRounded: true, signal })
    if (size !== found.size) await permission.ask()
  }
  const identity = { login: remote.login, name, target }
  const download = await beginDownload(file, identity, destination.partials, {
    client,
    signal,
    note: (text) => report.inform(text),
  })
  const { size, etag, modified } = download
  const placement = {
    identity,
    sync: destination.sync,
    modified,
    async beforePlacing(own: number) {
      if (destination.isKeeping && (await hasOtherContent(own, path))) {
        throw new CommandError(exitCodes.failed, `${path} has appeared meanwhile, and stays`)
      }
      // Ask also if another file has appeared meanwhile.
      if (permission.mustAsk && (await hasOtherContent(own, path))) await permission.ask()
    },
  }
  const display = remote.screen.begin(name, size)
  try {
    const { placed } = await destination.receiver.receive(download, placement, display)
    const done = () => {
      destination.total.add(size)
      return report.done({ name, path, size, etag }, `${path} is downloaded, ${formatBytes(size)}`)
    }
    return { placed: placed.then(done) }
  } finally {
    display.end()
  }
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

/** What a download needs of a command. */
export interface DownloadContext {
  readonly client: Client
  readonly signal: AbortSignal
  readonly note: (text: string) => void
}

/** Begins the download where an earlier command has stopped, if the file is still the same. */
export async function beginDownload(
  { name, version, download: begin }: RemoteFile,
  identity: PartialIdentity,
  partials: readonly string[],
  { client, signal, note }: DownloadContext,
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
      note(`${name} continues at ${formatBytes(durableBytes)} of ${formatBytes(download.size)}`)
      return download
    } catch (error) {
      if (!isHoldfastError(error, 'precondition-failed')) throw error
      note(`${name} has changed on the server; the download starts again`)
    }
    await removePartial(partial.path)
  }
  return begin ? begin({ signal }) : client.download(name, { version, reuseMemory: true, signal })
}

/** `holdfast cat NAME…`. */
export const cat: ClientVerb = {
  command: 'cat [names..]',
  describe: 'Print the content of files',
  flags: [],
  options: (yargs) =>
    withNames(yargs, 'Files on the server, or patterns such as "*.log"').example(
      '$0 cat notes.txt | less',
      '',
    ),
  run: runCat,
}

/** Prints files, or for `get` an earlier version of one, one after the other; resolves with the exit code. */
function runCat(argv: VerbArguments): Promise<number> {
  const version = textIn(argv, 'version')
  return withRemote(argv, async (remote) => {
    const names = expandNames(namesIn(argv), argv, remote)
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      const { body } = await remote.client.download(name, { version, reuseMemory: true, signal })
      for await (const chunk of body) await print(chunk)
    })
  })
}
