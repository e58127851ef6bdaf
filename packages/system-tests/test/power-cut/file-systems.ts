/** The kinds of file systems whose power is cut. */
export const fileSystems = ['ext4', 'xfs', 'btrfs'] as const

export type FileSystem = (typeof fileSystems)[number]

/** The commands that make a file system on a device, and that look for damage in one that is not mounted. */
export interface FileSystemPrograms {
  readonly make: readonly string[]
  /** Changes nothing; its exit code is 0 when there is no damage. */
  readonly check: readonly string[]
}

export const programs: Readonly<Record<FileSystem, FileSystemPrograms>> = {
  ext4: { make: ['mkfs.ext4', '-q', '-F'], check: ['e2fsck', '-f', '-n'] },
  xfs: { make: ['mkfs.xfs', '-q', '-f', '-K'], check: ['xfs_repair', '-n'] },
  btrfs: { make: ['mkfs.btrfs', '-q', '-f', '-K'], check: ['btrfs', 'check', '--readonly'] },
}
