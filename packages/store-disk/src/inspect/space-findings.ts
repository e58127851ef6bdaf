import type { StatsFs } from 'node:fs'
import { finding, formatBytes, type Finding } from '@holdfast/core'

export type DiskRoom = Pick<StatsFs, 'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree'>

/** The part of a whole below which there is a warning. */
const scarce = 0.1

/** Bytes, and files, below which uploads are about to fail. */
const least = { bytes: 16 * 1024 * 1024, files: 100 }

/**
 * Whether there is room on a disk, for bytes, for files, and for the `promised` bytes that customers may keep together,
 * as far as they have a limit.
 */
export function spaceFindings(room: DiskRoom, promised: number): readonly Finding[] {
  return [freeSpace(room), freeFiles(room), ...quotas(room, promised)]
}

function freeSpace({ bsize, blocks, bavail }: DiskRoom): Finding {
  const free = bavail * bsize
  const message = `${formatBytes(free)} free of ${formatBytes(blocks * bsize)}`
  const mark = judge(bavail / Math.max(blocks, 1), free < least.bytes)
  const remedy = 'Make room, or move to a larger disk; when it is full, uploads get 507.'
  return finding(mark, 'free space', message, ...(mark === 'ok' ? [] : [remedy]))
}

function freeFiles({ files, ffree }: DiskRoom): Finding {
  // Btrfs and others make them as they go.
  if (files === 0) return finding('ok', 'free inodes', 'this file system makes them as needed')
  const count = (number: number) => number.toLocaleString('en')
  const message = `room for ${count(ffree)} more files and directories of ${count(files)}`
  const mark = judge(ffree / files, ffree < least.files)
  const remedy = 'Remove small files, or move to a file system made for more: mkfs.ext4 -i 4096'
  return finding(mark, 'free inodes', message, ...(mark === 'ok' ? [] : [remedy]))
}

function judge(part: number, isOut: boolean): 'ok' | 'warning' | 'problem' {
  if (isOut) return 'problem'
  return part < scarce ? 'warning' : 'ok'
}

function quotas({ bsize, blocks }: DiskRoom, promised: number): readonly Finding[] {
  if (promised === 0) return []
  const size = blocks * bsize
  const [all, disk] = [formatBytes(promised), formatBytes(size)]
  if (promised <= size) {
    return [finding('ok', 'quotas', `all together are ${all}; the disk has ${disk}`)]
  }
  const message = `all together are ${all}, and the disk has only ${disk}`
  const remedy = 'Lower the quotas in the customers file, or watch the free space.'
  return [finding('warning', 'quotas', message, remedy)]
}
