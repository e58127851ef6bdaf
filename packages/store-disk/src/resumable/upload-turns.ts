import { endedByLater } from './upload-errors.ts'

/** Has the work of this process on one upload done one after the other. */
export interface UploadTurns {
  /**
   * Does `work` once all earlier work on the upload in `directory` has ended, and asks that to end. `work` is asked by its
   * signal.
   */
  run<T>(directory: string, work: (ending: AbortSignal) => Promise<T>): Promise<T>
  /** Asks the work on the upload to end. */
  end(directory: string, reason: unknown): void
  isBusy(directory: string): boolean
  /** Asks all work to end, and resolves when it has; no other begins. */
  close(): Promise<void>
}

interface Turn {
  readonly controller: AbortController
  readonly ended: Promise<unknown>
}

export function createUploadTurns(): UploadTurns {
  const turns = new Map<string, Set<Turn>>()
  let isClosed = false

  const end = (directory: string, reason: unknown) => {
    for (const { controller } of turns.get(directory) ?? []) controller.abort(reason)
  }

  return {
    async run(directory, work) {
      if (isClosed) throw closedStore()
      end(directory, endedByLater())
      const those = turns.get(directory) ?? new Set<Turn>()
      const earlier = Promise.allSettled(Array.from(those, ({ ended }) => ended))
      turns.set(directory, those)
      const controller = new AbortController()
      const working = earlier.then(() => work(controller.signal))
      const turn = { controller, ended: working.catch(() => {}) }
      those.add(turn)
      try {
        return await working
      } finally {
        those.delete(turn)
        if (those.size === 0) turns.delete(directory)
      }
    },
    end,
    isBusy: (directory) => turns.has(directory),
    async close() {
      isClosed = true
      const all = [...turns.keys()]
      for (const directory of all) end(directory, closedStore())
      await Promise.all(
        [...turns.values()].flatMap((those) => Array.from(those, ({ ended }) => ended)),
      )
    },
  }
}

function closedStore(): Error {
  return new Error('The disk store is closed')
}
