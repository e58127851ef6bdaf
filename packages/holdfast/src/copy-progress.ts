import type { CopyProgress, FileCount } from '@holdfast/copy'
import { formatBytes } from '@holdfast/core'
import {
  createStatusLine,
  formatDuration,
  progressMode,
  type ProgressOutput,
} from './terminal/print.ts'

export interface ProgressDisplay {
  update(progress: CopyProgress): void
  /** Writes a separate line above the progress. */
  note(line: string): void
  /** Shows the last progress, and nothing afterwards. */
  end(): void
}

/** Milliseconds between two plain lines. */
const plainMs = 5000

/**
 * Shows progress on a terminal: in one line that is redrawn, or, if the environment asks for plain output (`NO_COLOR`, `TERM=dumb`), as a
 * line every five seconds and at the end. Elsewhere, as in a log, it shows none.
 */
export function showProgress(
  output: ProgressOutput,
  environment: Readonly<Record<string, string | undefined>>,
): ProgressDisplay {
  const paceOf = createPaceMeter()
  let latest: CopyProgress | undefined
  const mode = progressMode(output, environment, { plainMs })
  const { note, end } = createStatusLine(output, mode, (width) => {
    if (!latest) return undefined
    const pace = paceOf({ at: Date.now(), progress: latest })
    return width === undefined ? progressLogLine(latest, pace) : progressLine(latest, pace, width)
  })
  return {
    update(progress) {
      // The first sample of each stage, for the pace in its first line.
      if (latest?.stage !== progress.stage) paceOf({ at: Date.now(), progress })
      latest = progress
    },
    note,
    end,
  }
}

const longestBar = 30
const shortestBar = 10

/**
 * The progress of a copy in one line of ASCII of at most `width` characters. It leaves out the least important facts until the rest fits;
 * a bar fills the line.
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

/** The same for a log: without a bar, of any length. */
export function progressLogLine(progress: CopyProgress, pace: Pace): string {
  return join(partsOf(progress, pace).full)
}

interface Parts {
  /** Empty while the total is 0. */
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

/** How fast a copy goes. */
interface Pace {
  /** Of bytes that were copied or compared. */
  readonly bytesPerSecond: number
  /** Until the end of the stage; `undefined` if it is unknown. */
  readonly secondsLeft: number | undefined
}

/** The progress of the copy at a time in milliseconds. */
export interface Sample {
  readonly at: number
  readonly progress: CopyProgress
}

/** The pace between two samples of one stage. */
export function measurePace(earlier: Sample, later: Sample): Pace {
  const seconds = (later.at - earlier.at) / 1000
  if (seconds <= 0) return { bytesPerSecond: 0, secondsLeft: undefined }
  const { stage, total, done, moved } = later.progress
  const doneNow = workOf(done, stage)
  const doneBefore = workOf(earlier.progress.done, stage)
  const left = Math.max(0, workOf(total, stage) - doneNow)
  return {
    bytesPerSecond: (moved - earlier.progress.moved) / seconds,
    secondsLeft: doneNow > doneBefore ? (seconds * left) / (doneNow - doneBefore) : undefined,
  }
}

/** Milliseconds over which the pace is measured. */
const window = 10_000

/** Measures the pace of the last ten seconds. */
export function createPaceMeter(): (sample: Sample) => Pace {
  let samples: Sample[] = []
  return (sample) => {
    const isUsable = ({ at, progress }: Sample) =>
      sample.at - at <= window && progress.stage === sample.progress.stage
    samples = [...samples.filter(isUsable), sample]
    return measurePace(samples[0] ?? sample, sample)
  }
}

/** The work for a file, beside its bytes, as a number of bytes. */
const bytesPerFile = 256 * 1024

/**
 * Estimates the work for some files, to compare two counts of one stage. The stage that catches up compares files and copies few, so their
 * size hardly counts.
 */
function workOf({ files, bytes }: FileCount, stage: CopyProgress['stage']): number {
  return stage === 'catching up' ? files : files * bytesPerFile + bytes
}
