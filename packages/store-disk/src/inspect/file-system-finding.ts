import { finding, type Finding } from '@holdfast/core'
import type { Mount } from '../files/find-mount.ts'
import { shellWord } from './shell-word.ts'

interface Kind {
  readonly types: RegExp
  readonly mark: 'warning' | 'problem'
  readonly message: string
  readonly remedy: (directory: string) => string
}

const onDisk = () => 'Choose a directory on a disk with ext4, XFS, Btrfs or ZFS.'

/** What is to be known of file systems; all others are taken for a disk's own. */
const kinds: readonly Kind[] = [
  {
    types: /^(tmpfs|ramfs|devtmpfs)$/,
    mark: 'problem',
    message: 'keeps files in memory; all are lost when the machine goes off',
    remedy: onDisk,
  },
  {
    types: /^(overlay|aufs)$/,
    mark: 'warning',
    message: 'is the inside of a container; the files go when the container is removed',
    remedy: (directory) => `Mount a volume there: docker run -v holdfast:${shellWord(directory)} …`,
  },
  {
    types: /^nfs4?$/,
    mark: 'warning',
    message: 'is kept by another machine; OK is as safe as that machine makes it',
    remedy: () => 'On the NFS server, see that the export says "sync": exportfs -v',
  },
  {
    types: /^(cifs|smb3|smbfs)$/,
    mark: 'warning',
    message: 'is a share of another machine; whether OK survives its power cut is up to that one',
    remedy: onDisk,
  },
  {
    types: /^(fuse.*|9p|virtiofs|vboxsf|prl_fs)$/,
    mark: 'warning',
    message: 'goes through another program, which decides when files reach a disk',
    remedy: onDisk,
  },
  {
    types: /^(vfat|msdos|exfat)$/,
    mark: 'problem',
    message: 'has no hard links, which holdfast needs',
    remedy: onDisk,
  },
]

const check = 'file system'

/** Whether files are safe on the file system `mount`, by its kind and how it is mounted, for `directory` on it. */
export function fileSystemFinding(mount: Mount | undefined, directory: string): Finding {
  if (!mount) return finding('skipped', check, 'this operating system does not report its kind')
  const { type, point, options, isForcedReadOnly } = mount
  const place = `${type}, mounted at ${point},`
  const remount = (option: string) => `mount -o remount,${option} ${shellWord(point)}`
  if (isForcedReadOnly) {
    const message = `${place} was made read-only by the kernel, which does that after a fault of the disk`
    return finding('problem', check, message, 'See what it was: dmesg --level=crit,err')
  }
  if (options.includes('ro')) {
    return finding('problem', check, `${place} can only be read`, remount('rw'))
  }
  const risky = options.find((option) => /^(nobarrier|barrier=(0|none))$/.test(option))
  if (risky !== undefined) {
    const message = `${place} has the option ${risky}; a power cut can take files that were OK`
    return finding('problem', check, message, remount('barrier=1'))
  }
  const kind = kinds.find(({ types }) => types.test(type))
  if (!kind) return finding('ok', check, `${type}, mounted at ${point}`)
  const message = `${place} ${kind.message}${options.includes('soft') ? '; mounted "soft", it gives up writing' : ''}`
  return finding(kind.mark, check, message, kind.remedy(directory))
}
