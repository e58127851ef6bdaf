import { dirname } from 'node:path'
import { FileServiceError } from '@holdfast/core'
import type { DurableDirectories } from '../directory/durable-directories.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { isSystemError } from '../files/system-error.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'

export interface Publication {
  readonly calls: FileCalls
  /** Removes the first name of a file that is linked. */
  readonly tempDirectory: Pick<TempDirectory, 'remove'>
  readonly directories: Pick<DurableDirectories, 'within'>
  /** Records a file that may be replaced. */
  readonly journal: Pick<ReplacementJournal, 'replace'>
  /** The path of the content, in a directory below the root of `directories`, which need not exist. */
  readonly target: string
  /** Called before the target is replaced, which may be there. */
  readonly beforeReplacing: () => Promise<void>
  /** Fail with `already-exists` instead of replacing what is there. */
  readonly createOnly: boolean
  readonly signal: AbortSignal | undefined
}

/**
 * Moves the synced file at `path` to its target atomically, and resolves when that survives a power cut. If only the last
 * sync fails, the content has its name, which a power cut may undo.
 */
export async function publishFile(path: string, publication: Publication): Promise<void> {
  const { calls, directories, target, createOnly, signal, beforeReplacing } = publication
  if (!createOnly) await translateFsError(beforeReplacing())
  const directory = dirname(target)
  const giveName = async () => {
    signal?.throwIfAborted()
    await changeDurably(directory, () => nameIt(path, publication), calls)
  }
  await translateFsError(directories.within(directory, giveName))
}

async function nameIt(path: string, publication: Publication): Promise<void> {
  if (!publication.createOnly) {
    const { calls, journal, target } = publication
    await journal.replace(target, () => calls.rename(path, target))
    crashPoint('named')
    return
  }
  await linkAs(path, publication)
  // The content is published. The name in the temporary directory is only litter from now on.
  await publication.tempDirectory.remove(path)
  crashPoint('second-name-removed')
}

/** Unlike a rename, a link never replaces what is there. */
async function linkAs(path: string, { calls, target }: Publication): Promise<void> {
  try {
    await calls.link(path, target)
    crashPoint('named')
  } catch (cause) {
    if (!isSystemError(cause, 'EEXIST')) throw cause
    throw new FileServiceError('already-exists', 'The name is taken', { cause })
  }
}
