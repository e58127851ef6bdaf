/** Runs a bounded number of tasks at a time. */
export interface TaskLimit {
  /** Begins the task as soon as there is room; resolves then. */
  start(task: () => Promise<void>): Promise<void>
  /** Resolves when no task is under way. */
  settled(): Promise<void>
}

/** @param onError called with what a task rejects with */
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
