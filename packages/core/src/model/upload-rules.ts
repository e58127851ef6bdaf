import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { FileServiceError } from './errors.ts'

/** Milliseconds for which a store that was full keeps an upload that had no room in it, unless the upload goes on. */
export const expiryWhenFullMs = 60 * 60 * 1000

/** What the rules of an upload in pieces need of it; `published` is anything once it is, or is being, published. */
interface Progress extends Pick<ResumableUpload, 'offset' | 'plan'> {
  readonly published?: unknown
}

/** @throws FileServiceError `upload-conflict` unless bytes may be added at `offset` */
export function requireOffset(upload: Omit<Progress, 'plan'>, offset: number): void {
  if (upload.published !== undefined) throw uploadPublished()
  if (upload.offset === offset) return
  throw uploadConflict(`The upload stands at ${upload.offset} and not at ${offset} bytes`)
}

/** @throws FileServiceError `upload-conflict` unless the whole file may have `length` bytes */
export function requireLength({ offset, plan, published }: Progress, length: number): void {
  const known = published === undefined ? plan.length : offset
  if (known !== undefined && known !== length) {
    throw uploadConflict(`The length is ${known} and not ${length} bytes`)
  }
  if (offset > length) throw uploadConflict(`The upload has ${offset} bytes already`)
}

/** @throws FileServiceError `upload-conflict` unless the upload has all bytes of its length, where that is known */
export function requireComplete({ offset, plan: { length = offset } }: Progress): void {
  if (offset === length) return
  throw uploadConflict(`The upload has ${offset} of ${length} bytes`)
}

/** The rejection for an upload in pieces that is not there. */
export function uploadNotFound(): FileServiceError {
  return new FileServiceError('upload-not-found', 'There is no such upload, or it has expired')
}

/** The rejection of a call that a later one has ended, or has left without the upload. */
export function uploadTakenOver(): FileServiceError {
  return uploadConflict('A later request goes on with the upload')
}

/** The rejection of bytes for an upload whose file is there. */
export function uploadPublished(): FileServiceError {
  return uploadConflict('The upload is published')
}

/** The rejection for an upload in pieces that is not where the caller believes it to be. */
export function uploadConflict(message: string): FileServiceError {
  return new FileServiceError('upload-conflict', message)
}

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
