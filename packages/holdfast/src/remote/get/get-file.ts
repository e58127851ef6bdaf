import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isHoldfastError, type Download } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import type { RemoteWithScreen } from '../session/with-transfers.ts'
import type { DirectorySync } from './directory-sync.ts'
import { isOther, type Replacement, type Replacing } from './replacing.ts'
import {
  findPartial,
  openPartial,
  removePartial,
  trustedOf,
  type PartialIdentity,
} from './partial-files.ts'
import { pathOf, type Target } from './targets.ts'
import { putInPlace, writeFrom } from './write-target.ts'

/** The directory that files go to. */
export interface Destination {
  /** What earlier commands have left in it. */
  readonly partials: readonly string[]
  readonly sync: DirectorySync
  readonly replacing: Replacing
}

/**
 * Downloads a file to its place, where it appears when all of it is there; goes on where an earlier command stopped.
 */
export async function getFile(
  name: string,
  target: Target,
  destination: Destination,
  remote: RemoteWithScreen,
): Promise<void> {
  const path = pathOf(target)
  const found = await fileAt(path)
  const { client, signal } = remote
  const replace = destination.replacing.of(target, signal)
  // Of one of the same size it is known only once all of it is there.
  if (found && replace.mustAsk) {
    const { size } = await client.stat(name, { isRounded: true, signal })
    if (size !== found.size) await replace.ask()
  }
  const identity = { login: remote.login, name, target }
  const download = await begin(identity, destination.partials, remote)
  try {
    await receive(download, identity, destination.sync, replace, remote)
  } finally {
    // Does nothing to a body that has been read.
    await download.body.cancel().catch(() => {})
  }
  const { size, etag } = download
  await remote.report.done({ name, path, size, etag }, `${path} is here, ${formatBytes(size)}`)
}

/** The file there; anything else would be replaced by one that is renamed over it. */
async function fileAt(path: string): Promise<Stats | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found || found.isFile()) return found
  throw new CommandError(exitCodes.failed, `${path} is no file; for a device or a pipe, use cat.`)
}

async function begin(
  identity: PartialIdentity,
  partials: readonly string[],
  { client, report, signal }: RemoteWithScreen,
): Promise<Download> {
  const { name } = identity
  const partial = await findPartial(identity, partials)
  if (partial && partial.trusted > 0) {
    const { etag, trusted } = partial
    try {
      const download = await client.download(name, {
        start: trusted,
        ifMatch: etag,
        reuseMemory: true,
        signal,
      })
      report.note(`${name} goes on at ${formatBytes(trusted)} of ${formatBytes(download.size)}`)
      return download
    } catch (error) {
      if (!isHoldfastError(error, 'precondition-failed')) throw error
      report.note(`${name} has changed on the server, and begins anew`)
    }
    await removePartial(partial.path)
  }
  return client.download(name, { reuseMemory: true, signal })
}

async function receive(
  download: Download,
  identity: PartialIdentity,
  sync: DirectorySync,
  replace: Replacement,
  { screen }: RemoteWithScreen,
): Promise<void> {
  const { name, size, start, etag, body } = download
  const { file, path, isLasting } = await openPartial(identity, etag)
  const display = screen.begin(name, size)
  display.update(start)
  let isWhole = false
  let isRefused = false
  try {
    const end = await writeFrom(file, start, body, (position) => display.update(position))
    await file.sync()
    const written = (await file.stat()).size
    if (end !== size || written !== size) {
      throw new CommandError(
        exitCodes.retry,
        `It has ${size} bytes on the server, and ${written} here.`,
      )
    }
    display.end()
    // Also one that has come meanwhile.
    if (replace.mustAsk && (await isOther(file, pathOf(identity.target)))) {
      isRefused = true
      await replace.ask()
      isRefused = false
    }
    isWhole = true
    await putInPlace(file, path, pathOf(identity.target))
    await sync()
  } finally {
    display.end()
    const { size: written } = await file.stat()
    await file.close()
    const isWorthKeeping = isLasting && !isRefused && trustedOf(written) > 0
    if (!isWhole && !isWorthKeeping) await removePartial(path)
  }
}
