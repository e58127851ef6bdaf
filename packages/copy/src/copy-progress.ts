/** A number of files, and the sum of their sizes in bytes. */
export interface FileCount {
  readonly files: number
  readonly bytes: number
}

/** The progress of a copy. */
export interface CopyProgress {
  /** The files are first counted, then copied, then checked again for changes. */
  readonly stage: 'counting' | 'copying' | 'catching up'
  /** Files finished in this stage: copied, found in the target, or failed. */
  readonly done: FileCount
  /** Counted so far, or in all; ignores files that come and go meanwhile. */
  readonly total: FileCount
  /** Bytes copied and compared, in all stages. Each counts half when it is sent, and half when it has been read back. */
  readonly moved: number
  /** Files that have failed and have not succeeded since. */
  readonly failed: number
}

export interface FileInProgress {
  /** Adds bytes that were read or written on one side; each byte is counted on both sides. */
  moved(bytesOnOneSide: number): void
  /** Ends the file. `size` replaces what `moved` has counted, which may be nothing, or too much after a second try. */
  end(size: number): void
}

export interface ProgressTracker {
  counted(count: FileCount): void
  begin(stage: CopyProgress['stage']): void
  /** Sets how many files have failed so far. */
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
