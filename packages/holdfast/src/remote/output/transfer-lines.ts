import { formatBytes } from '@holdfast/core'
import { formatDuration } from '../../copy/format-duration.ts'
import { printable } from './printable.ts'

/** A file on its way. */
export interface TransferState {
  readonly name: string
  /** Bytes; `undefined` for a stream whose end has not been seen. */
  readonly size: number | undefined
  /** Bytes that are through, those of an earlier command included. */
  readonly done: number
  readonly bytesPerSecond: number
}

/** How far a file is, in one line of at most `width` characters. */
export function transferLine(
  { name, size, done, bytesPerSecond }: TransferState,
  width: number,
): string {
  const left =
    size === undefined || bytesPerSecond <= 0 ? undefined : (size - done) / bytesPerSecond
  const parts = [
    size === undefined ? '' : `${Math.floor(size === 0 ? 100 : (done / size) * 100)}%`,
    size === undefined ? formatBytes(done) : `${formatBytes(done)} of ${formatBytes(size)}`,
    bytesPerSecond > 0 ? `${formatBytes(bytesPerSecond)}/s` : '',
    left === undefined ? '' : `${formatDuration(left)} left`,
  ]
  const facts = parts.filter((part) => part !== '').join('  ')
  const room = width - facts.length - 2
  const shown = printable(name)
  const label = shown.length <= room ? shown : `${shown.slice(0, Math.max(0, room - 3))}...`
  return `${label}  ${facts}`.slice(0, width)
}
