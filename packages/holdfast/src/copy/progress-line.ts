import type { CopyProgress } from '@holdfast/copy'
import { formatBytes } from '@holdfast/core'
import { formatDuration } from './format-duration.ts'
import { workOf, type Pace } from './measure-pace.ts'

const longestBar = 30
const shortestBar = 10

/**
 * The progress of a copy in one line of ASCII of at most `width` characters. The least important facts are left out until
 * the rest fits; a bar fills the line.
 */
export function progressLine(progress: CopyProgress, pace: Pace, width: number): string {
  const parts = partsOf(progress, pace)
  const full = join(parts.full)
  const bar = Math.min(longestBar, width - full.length - 4)
  if (parts.percent !== '' && bar >= shortestBar) {
    return full.replace(parts.percent, `${drawBar(fractionDone(progress), bar)} ${parts.percent}`)
  }
  const lines = [full, ...parts.shorter.map(join)]
  return lines.find((line) => line.length <= width) ?? (lines.at(-1) ?? '').slice(0, width)
}

/** The same as a line of a log, without a bar and a limit. */
export function progressLogLine(progress: CopyProgress, pace: Pace): string {
  return join(partsOf(progress, pace).full)
}

interface Parts {
  /** Empty while there is nothing to have a part of. */
  readonly percent: string
  readonly full: readonly string[]
  readonly shorter: readonly (readonly string[])[]
}

function partsOf(progress: CopyProgress, pace: Pace): Parts {
  const { stage, done, total } = progress
  const failed = progress.failed === 0 ? '' : `${progress.failed} failed`
  if (stage === 'counting') {
    const [files, bytes] = [`${total.files} files`, formatBytes(total.bytes)]
    return { percent: '', full: [stage, files, bytes], shorter: [[stage, files], [files]] }
  }
  const percent = `${Math.floor(fractionDone(progress) * 100)}%`.padStart(4)
  const bytes = `${formatBytes(done.bytes)} of ${formatBytes(total.bytes)}`
  const files = `${done.files} of ${total.files} files`
  const rate = `${formatBytes(pace.bytesPerSecond)}/s`
  const left = pace.secondsLeft ? `${formatDuration(pace.secondsLeft)} left` : ''
  return {
    percent,
    full: [stage, percent, bytes, files, rate, left, failed],
    shorter: [
      [percent, bytes, files, rate, left, failed],
      [percent, bytes, rate, left, failed],
      [percent, bytes, left, failed],
      [percent, left, failed],
      [percent],
    ],
  }
}

const join = (parts: readonly string[]) => parts.filter((part) => part !== '').join('  ')

/** At most 1, though files may be added while the copy runs. */
function fractionDone({ stage, done, total }: CopyProgress): number {
  const counted = {
    files: Math.min(done.files, total.files),
    bytes: Math.min(done.bytes, total.bytes),
  }
  const whole = workOf(total, stage)
  return whole === 0 ? 1 : workOf(counted, stage) / whole
}

function drawBar(fraction: number, width: number): string {
  const filled = Math.floor(fraction * width)
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`
}
