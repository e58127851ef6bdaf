import { uploadTakenOver } from './upload-errors.ts'

/** Has the calls that change one upload run one after the other; a later call ends an append that is under way. */
export interface UploadTurns {
  /**
   * Ends what runs for `upload`, waits until it has ended, and does `work`, whose signal aborts when a later call comes. Calls
   * with the same text for `upload` are of the same upload: it must name the customer, too.
   */
  run<T>(upload: string, work: (interrupted: AbortSignal) => Promise<T>): Promise<T>
  /** Ends what runs for `upload`, and resolves when it has ended. */
  interrupt(upload: string): Promise<void>
  isRunning(upload: string): boolean
  /** Ends all that runs, and resolves when it has ended. Later calls reject with `reason`. */
  close(reason: Error): Promise<void>
}

interface Turn {
  readonly stop: AbortController
  /** Earlier turns of the upload have ended before it begins. */
  readonly ended: Promise<unknown>
}

/** Makes the {@link UploadTurns} of a store. It keeps no memory for uploads that nothing runs for. */
export function createUploadTurns(): UploadTurns {
  // The last turn of each upload.
  const turns = new Map<string, Turn>()
  let closed: Error | undefined

  const end = async (turn: Turn | undefined, reason: Error) => {
    turn?.stop.abort(reason)
    await turn?.ended
  }
  const interrupt = (upload: string) => end(turns.get(upload), uploadTakenOver())

  return {
    async run(upload, work) {
      if (closed) throw closed
      const stop = new AbortController()
      const running = interrupt(upload).then(() => work(stop.signal))
      const turn = { stop, ended: running.catch(() => {}) }
      turns.set(upload, turn)
      try {
        return await running
      } finally {
        if (turns.get(upload) === turn) turns.delete(upload)
      }
    },
    interrupt,
    isRunning: (upload) => turns.has(upload),
    async close(reason) {
      closed = reason
      await Promise.all(Array.from(turns.values(), (turn) => end(turn, reason)))
    },
  }
}
