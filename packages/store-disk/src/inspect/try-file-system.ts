import { link, open, readFile, rename, writeFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { finding, type Finding } from '@holdfast/core'
import type { NamesMode } from '../directory/layout.ts'
import { findUnkeptName } from '../directory/data-directory.ts'
import { changeDurably } from '../files/change-durably.ts'
import { isSystemError } from '../files/translate-fs-error.ts'

/**
 * Does with files of its own in `directory`, which is empty, what a store does with files: writes them durably, renames
 * and links them, gives them odd names. `names` is how the store names its files, if it is there already.
 */
export async function* tryFileSystem(
  directory: string,
  names: NamesMode | undefined,
): AsyncGenerator<Finding> {
  yield await attempt('syncing', () => trySyncing(directory))
  yield await attempt('renaming', () => tryRenaming(directory))
  yield await attempt('hard links', () => tryLinking(directory))
  yield await attempt('names', async () => namesFinding(await findUnkeptName(directory), names))
  yield await attempt('file times', () => tryClock(directory))
}

async function attempt(check: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const remedy = isSystemError(error, 'ENOSPC', 'EDQUOT')
      ? 'Make room: the disk, or the share of it that this user has, is full.'
      : 'See what the system says of its disks: dmesg | tail'
    return finding('problem', check, `failed: ${reason}`, remedy)
  }
}

const syncTries = 9

async function trySyncing(directory: string): Promise<Finding> {
  const times: number[] = []
  for (let count = 0; count < syncTries; count++) {
    const begin = performance.now()
    await writeDurably(directory)
    times.push(performance.now() - begin)
  }
  const middle = times.sort((a, b) => a - b)[Math.floor(syncTries / 2)] ?? 0
  const message = `works; a small file takes about ${middle.toFixed(middle < 10 ? 1 : 0)} ms to be safe`
  return finding('ok', 'syncing', message)
}

/** As an upload is written. */
async function writeDurably(directory: string): Promise<void> {
  const [temporary, target] = [join(directory, 'unsynced'), join(directory, 'synced')]
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile('holdfast')
    await handle.sync()
  } finally {
    await handle.close()
  }
  await changeDurably(directory, () => rename(temporary, target))
}

const renames = 200

/** A reader of a file that is replaced again and again must find it whole, the old one or the new. */
async function tryRenaming(directory: string): Promise<Finding> {
  const [next, target] = [join(directory, 'next'), join(directory, 'target')]
  const contents = ['old', 'new'].map((word) => word.repeat(1000))
  const replace = async (count: number) => {
    await writeFile(next, contents[count % 2] ?? '')
    await rename(next, target)
  }
  await replace(0)
  const replacing = (async () => {
    for (let count = 1; count <= renames; count++) await replace(count)
  })()
  let isOver = false
  void replacing.catch(() => {}).finally(() => (isOver = true))
  let broken = 0
  while (!isOver) if (!contents.includes(await readIfThere(target))) broken++
  await replacing
  if (broken === 0) return finding('ok', 'renaming', 'replaces a file in one step')
  const message = `a file was missing or not whole ${broken} times while it was replaced ${renames} times`
  const remedy = 'Choose a directory on another file system; readers could get half of a file.'
  return finding('problem', 'renaming', message, remedy)
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ESTALE')) return ''
    throw error
  }
}

async function tryLinking(directory: string): Promise<Finding> {
  const [one, other] = [join(directory, 'one'), join(directory, 'other')]
  await writeFile(one, '')
  const remedy = 'Choose a directory on another file system, such as ext4, XFS, Btrfs or ZFS.'
  try {
    await link(one, other)
  } catch (error) {
    if (!isSystemError(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
    return finding('problem', 'hard links', 'there are none, and holdfast needs them', remedy)
  }
  const isKept = await link(one, other).then(
    () => false,
    (error: unknown) => isSystemError(error, 'EEXIST'),
  )
  if (isKept) return finding('ok', 'hard links', 'work, and never replace a file')
  const message = 'a link replaces what is there, so that create-only uploads would not keep it'
  return finding('problem', 'hard links', message, remedy)
}

/**
 * Whether files can be named in the mode `names`, or a mode can be chosen for them, on a file system that does not keep
 * the name `unkept`, or keeps all.
 */
export function namesFinding(unkept: string | undefined, names: NamesMode | undefined): Finding {
  if (unkept === undefined) {
    return finding('ok', 'names', 'all are kept apart: case, accents, dots and blanks, 255 bytes')
  }
  const example = unkept.length > 20 ? `one of ${Buffer.byteLength(unkept)} bytes` : `"${unkept}"`
  const message = `this file system does not keep all names as they are, such as ${example}`
  if (names !== 'plain')
    return finding('ok', 'names', `${message}; they are written in a safe form`)
  const remedy =
    'Move the directory to a file system that does, such as ext4; the server refuses it here.'
  return finding('problem', 'names', message, remedy)
}

/** Whether a file that is written in `directory` gets the time of this machine. */
async function tryClock(directory: string): Promise<Finding> {
  const path = join(directory, 'clock')
  const begin = Date.now()
  await writeFile(path, '')
  const end = Date.now()
  return clockFinding((await stat(path)).mtimeMs, { begin, end })
}

/** Milliseconds that a file's time may be off: kernels round, and some file systems keep whole seconds of even number. */
const tolerance = 2_000

/** Whether the time of a file that was written between `begin` and `end` is that of this machine; in milliseconds. */
export function clockFinding(
  fileTime: number,
  { begin, end }: { readonly begin: number; readonly end: number },
): Finding {
  const early = begin - fileTime
  const late = fileTime - end
  const off = Math.max(early, late)
  if (off <= tolerance) return finding('ok', 'file times', 'are those of this machine')
  const direction = early > late ? 'behind' : 'ahead of'
  const message = `the clock of the file system is ${(off / 1000).toFixed(0)} s ${direction} that of this machine`
  const remedy = 'Set both by NTP; on this machine: timedatectl set-ntp true'
  return finding('warning', 'file times', message, remedy)
}
