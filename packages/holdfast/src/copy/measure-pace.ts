import type { CopyProgress, FileCount } from '@holdfast/copy'

/** How fast a copy goes. */
export interface Pace {
  /** Copied and compared. */
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

/** Each file takes as long as this many bytes, in addition to its own. */
const bytesPerFile = 256 * 1024

/**
 * The estimated work for some files, to compare two counts of one stage. The stage that catches up compares files
 * and copies few, so their size hardly counts.
 */
export function workOf({ files, bytes }: FileCount, stage: CopyProgress['stage']): number {
  return stage === 'catching up' ? files : files * bytesPerFile + bytes
}
