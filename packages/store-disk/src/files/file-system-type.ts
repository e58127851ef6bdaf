import { statfs } from 'node:fs/promises'

/**
 * Local file systems of Linux, by the magic numbers of statfs(2): ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs,
 * overlay.
 */
const local: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x794c7630,
])

/** Whether `directory` is certainly on a local file system, where a cached read needs no other machine. */
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
