import { statfs } from 'node:fs/promises'

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
