import type { CopyFailure, CopyResult, FileCount } from '@holdfast/copy'
import { formatBytes } from '@holdfast/core'
import { visible } from '@holdfast/server/visible'
import { formatDuration } from './format-duration.ts'

/** The result of a copy, one fact a line. */
export function copySummary(result: CopyResult, seconds: number): readonly string[] {
  const { copied, present, removed, extra, failures, isCaughtUp, stoppedBy } = result
  const lines = [
    copied.files === 0
      ? `Nothing copied, in ${formatDuration(seconds)}.`
      : `Copied and compared ${amount(copied)}, in ${formatDuration(seconds)}.`,
  ]
  if (present.files > 0) lines.push(`There already: ${amount(present)}.`)
  if (removed > 0) lines.push(`Removed from the target: ${files(removed)}.`)
  if (extra > 0) lines.push(`Only in the target: ${files(extra)}; --delete removes them.`)
  if (failures.length > 0) lines.push(`Failed: ${files(failures.length)}.`)
  if (!isCaughtUp && stoppedBy === undefined) {
    lines.push('Files came or changed to the end: copy again when nothing is uploaded any more.')
  }
  return lines
}

/** A failure as one line, also if the name has line breaks. */
export function describeFailure({ customer, name, reason }: CopyFailure): string {
  const place = name === undefined ? customer : `${customer}/${name}`
  return `${visible(place)}: ${visible(reason)}`
}

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

const amount = (count: FileCount) => `${files(count.files)}, ${formatBytes(count.bytes)}`
