import { readFile, realpath, statfs, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FileServiceError } from '@holdfast/core'
import { translateFsError, isSystemError } from './file-calls.ts'

/** A mounted file system. */
export interface Mount {
  /** Where it is mounted. */
  readonly point: string
  /** As the kernel calls it: `ext4`, `nfs4`, `fuse.sshfs`. */
  readonly type: string
  readonly options: readonly string[]
  /** Whether it was mounted writable, but takes no writes: the kernel does that after a disk fault. */
  readonly isForcedReadOnly: boolean
}

/** The mount that `path` is on; `undefined` if the system does not report it. The path is absolute, without symbolic links. */
export async function findMount(path: string): Promise<Mount | undefined> {
  // Linux only. Unlike the numbers of `statfs`, it names the program of a FUSE mount, and the mount options.
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  const above = parseMounts(table).filter(({ point }) => isBelow(path, point))
  // Of several mounts at one point, only the last is visible.
  return above.reduce<Mount | undefined>(
    (inner, mount) => (mount.point.length >= (inner?.point.length ?? 0) ? mount : inner),
    undefined,
  )
}

/** The file systems in a table as in `/proc/self/mountinfo` (proc(5)), in its order. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split('\n').flatMap((line) => {
    const [mountPart = '', system = ''] = line.split(' - ')
    const [, , , , point, options = ''] = mountPart.split(' ')
    const [type, , systemOptions = ''] = system.split(' ')
    if (point === undefined || type === undefined) return []
    const [here, everywhere] = [options.split(','), systemOptions.split(',')]
    const isForcedReadOnly = here.includes('rw') && everywhere.includes('ro')
    return [{ point: unescape(point), type, options: [...here, ...everywhere], isForcedReadOnly }]
  })
}

function isBelow(path: string, point: string): boolean {
  return path === point || path.startsWith(point === '/' ? '/' : `${point}/`)
}

/** The kernel writes blanks and backslashes as three octal digits. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(parseInt(digits, 8)),
  )
}

/**
 * Local file systems of Linux, by the magic numbers of statfs(2): ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs,
 * overlay.
 */
const local: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x794c7630,
])

/** Whether `directory` is certainly on a file system of this machine, where cached reads need no network. */
export async function isLocal(directory: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const { type } = await statfs(directory)
  return local.has(type)
}

/** File systems where a renamed file takes over the directory entry that it replaces: ext2 to ext4, and XFS. */
const replacingInPlace: ReadonlySet<number> = new Set([0xef53, 0x58465342])

/**
 * Whether a file that replaces another in `directory`, or below, certainly takes over its directory entry. On other file
 * systems, such as Btrfs and tmpfs, it gets a new entry, and a reader of the directory may find neither.
 */
export async function replacesInPlace(directory: string): Promise<boolean> {
  // NTFS keeps the entries of a directory in the order of their names.
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') return false
  const { type } = await statfs(directory)
  return replacingInPlace.has(type)
}

/**
 * File systems whose journal has all changes in their order: ext3, ext4 and XFS. A file system in memory has no power cuts. Ext4 without a
 * journal keeps no order, and is called the same; its file check after a power cut is no promise for anything.
 */
const ordered: ReadonlySet<string> = new Set(['ext3', 'ext4', 'xfs', 'tmpfs'])

/** Whether a change of a directory that survives a power cut proves that all earlier ones do, also in other directories. */
export async function keepsOrder(directory: string): Promise<boolean> {
  const mount = await findMount(await realpath(directory))
  return mount !== undefined && ordered.has(mount.type)
}

/** How many more bytes the file system of `directory` accepts from processes without privileges. */
export async function freeSpaceOf(directory: string): Promise<number> {
  const { bavail, bsize } = await translateFsError(statfs(directory))
  return bavail * bsize
}

/**
 * Requires that the file system of `directory` has so many bytes left at this moment.
 *
 * @throws FileServiceError `insufficient-storage`
 */
export async function requireRoom(directory: string, bytes: number): Promise<void> {
  if (bytes <= (await freeSpaceOf(directory))) return
  throw new FileServiceError('insufficient-storage', 'The disk has no room for the file')
}

/** The mode of all directories. Owner and group: a backup may run as a member of the group. Other users may read nothing. */
export const directoryMode = 0o750

/**
 * Makes `directory`, an absolute path, and what is missing above it; resolves with what it made, outermost first. Node's own recursive
 * `mkdir` never ends if the system reports "no such directory" for a parent that exists, as in /proc.
 */
export async function makeDirectories(directory: string): Promise<readonly string[]> {
  try {
    return await makeDirectory(directory)
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || dirname(directory) === directory) throw error
  }
  const parents = await makeDirectories(dirname(directory))
  return [...parents, ...(await makeDirectory(directory))]
}

/** Also succeeds if the directory exists already, or another process makes it at the same time. */
async function makeDirectory(directory: string): Promise<readonly string[]> {
  try {
    await mkdir(directory, { mode: directoryMode })
    return [directory]
  } catch (error) {
    if (isSystemError(error, 'EEXIST') && (await stat(directory)).isDirectory()) return []
    throw error
  }
}
