/** So many files, and the sum of their sizes in bytes. */
export interface FileCount {
  readonly files: number
  readonly bytes: number
}

/** How far a copy has come. */
export interface CopyProgress {
  /** The files are counted first, then copied, then looked at again for what has changed meanwhile. */
  readonly stage: 'counting' | 'copying' | 'catching up'
  /** Dealt with in this stage, whether copied, found to be there, or failed. */
  readonly done: FileCount
  /** Counted so far, or in all; what comes and goes meanwhile is not in it. */
  readonly total: FileCount
  /** Bytes copied and compared, in all stages; half of each counts when it is sent, and half when it has been read. */
  readonly moved: number
  /** Files that have failed so far, and not succeeded since. */
  readonly failed: number
}

export interface FileInProgress {
  /** So many bytes of the file were read or written on one side; each has to be on both. */
  moved(bytesOnOneSide: number): void
  /** The file is done with; `size` counts instead of what was moved, which may be nothing, or too much after a second try. */
  end(size: number): void
}

export interface ProgressTracker {
  counted(count: FileCount): void
  begin(stage: CopyProgress['stage']): void
  /** How many have failed by now. */
  failed(count: number): void
  beginFile(): FileInProgress
}

/** Keeps the sums, and calls `onProgress` after every change. */
export function trackProgress(onProgress: (progress: CopyProgress) => void): ProgressTracker {
  const none: FileCount = { files: 0, bytes: 0 }
  let progress: CopyProgress = { stage: 'counting', done: none, total: none, moved: 0, failed: 0 }
  const update = (change: Partial<CopyProgress>) => {
    progress = { ...progress, ...change }
    onProgress(progress)
  }
  const advance = (files: number, bytes: number) =>
    update({ done: addCounts(progress.done, { files, bytes }) })

  return {
    counted: (count) => update({ total: addCounts(progress.total, count) }),
    begin: (stage) => update({ stage, done: none }),
    failed: (failed) => update({ failed }),
    beginFile() {
      let own = 0
      return {
        moved(bytesOnOneSide) {
          const bytes = bytesOnOneSide / 2
          own += bytes
          update({ moved: progress.moved + bytes })
          advance(0, bytes)
        },
        end: (size) => advance(1, size - own),
      }
    },
  }
}

export function addCounts(a: FileCount, b: FileCount): FileCount {
  return { files: a.files + b.files, bytes: a.bytes + b.bytes }
}
