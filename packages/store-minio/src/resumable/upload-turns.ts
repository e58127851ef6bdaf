import { uploadConflict } from './upload-record.ts'

/** Which upload is being changed in this process, one call after the other. */
export interface UploadTurns {
  /** Interrupts the call before, waits until it has ended, and runs `work`, whose signal aborts when a later call comes. */
  run<T>(id: string, work: (interrupted: AbortSignal) => Promise<T>): Promise<T>
  /** Interrupts what runs, and resolves when it has ended. */
  interrupt(id: string): Promise<void>
  readonly isRunning: (id: string) => boolean
}

interface Turn {
  readonly stop: AbortController
  readonly ended: Promise<unknown>
}

export function createUploadTurns(): UploadTurns {
  const turns = new Map<string, Turn>()
  const interrupt = async (id: string) => {
    const turn = turns.get(id)
    turn?.stop.abort(uploadConflict('A later request to the same upload has ended this one'))
    await turn?.ended
  }
  return {
    async run(id, work) {
      const stop = new AbortController()
      const running = interrupt(id).then(() => work(stop.signal))
      const turn = { stop, ended: running.catch(() => {}) }
      turns.set(id, turn)
      try {
        return await running
      } finally {
        if (turns.get(id) === turn) turns.delete(id)
      }
    },
    interrupt,
    isRunning: (id) => turns.has(id),
  }
}
