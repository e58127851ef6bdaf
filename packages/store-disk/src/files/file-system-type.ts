import { statfs } from 'node:fs/promises'

/**
 * File systems of Linux that are on this machine, by the magic numbers of statfs(2): ext2 to ext4, XFS, Btrfs, F2FS, ZFS,
 * bcachefs, tmpfs and overlay.
 */
const local: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x794c7630,
])

/** Whether `directory` is known to lie on this machine, so that what is in memory is had without asking anybody. */
export async function isLocal(directory: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const { type } = await statfs(directory)
  return local.has(type)
}

/**
 * File systems that put a renamed file into the very entry of the one that it replaces, by the magic numbers of statfs(2):
 * ext2 to ext4, and XFS.
 */
const keeping: ReadonlySet<number> = new Set([0xef53, 0x58465342])

/**
 * Whether a file that replaces another in `directory`, or below, surely has the other's place among the entries. Where
 * it has not, as on Btrfs and tmpfs, a walk through the entries may pass by a file that is there throughout.
 */
export async function replacesInPlace(directory: string): Promise<boolean> {
  // NTFS keeps the entries of a directory in the order of their names.
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') return false
  const { type } = await statfs(directory)
  return keeping.has(type)
}
