import type { SyncRecord, SyncState } from './sync-state.ts'

/** Runs a bounded number of tasks at a time. */
export interface TaskLimit {
  /** Starts the task as soon as a slot is free; resolves then. */
  start(task: () => Promise<void>): Promise<void>
  /** Resolves when no task is running. */
  settled(): Promise<void>
}

/** @param onError receives what a task rejects with */
export function limitTasks(most: number, onError: (error: unknown) => void): TaskLimit {
  const underWay = new Set<Promise<void>>()
  return {
    async start(task) {
      while (underWay.size >= most) await Promise.race(underWay)
      const running: Promise<void> = task()
        .catch(onError)
        .finally(() => underWay.delete(running))
      underWay.add(running)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}

/** Passes records to the state in the order of names: tasks start in that order, but may end in another. */
export interface OrderedRecords {
  /** `undefined` for a file that needs no record. */
  add(record: Promise<SyncRecord | undefined>): void
  /** Whether all must be written before more are added. */
  isFull(): boolean
  /** Resolves when all are written. */
  written(): Promise<void>
}

/** The most records in memory: a large file that takes long holds back those after it. */
const mostWaiting = 10_000

/** @param onError called once with an error of writing; records are useful, but not needed */
export function orderRecords(
  { add }: Pick<SyncState, 'add'>,
  onError: (error: unknown) => void,
): OrderedRecords {
  let waiting = 0
  let hasFailed = false
  let written = Promise.resolve()
  const write = async (before: Promise<void>, promised: Promise<SyncRecord | undefined>) => {
    await before
    const record = await promised
    waiting--
    if (record === undefined || hasFailed) return
    await add(record).catch((error: unknown) => {
      hasFailed = true
      onError(error)
    })
  }
  return {
    add(record) {
      waiting++
      written = write(written, record)
    },
    isFull: () => waiting >= mostWaiting,
    written: () => written,
  }
}
