/** An append under way. */
export interface UploadWriter {
  /** Aborts when a later call ends the append. */
  readonly signal: AbortSignal
  readonly stop: (reason: Error) => void
  /** Resolves once the append has ended. */
  readonly ended: Promise<undefined>
  readonly end: () => void
}

export function createUploadWriter(): UploadWriter {
  const controller = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  return {
    signal: controller.signal,
    stop: (reason) => controller.abort(reason),
    ended,
    end: () => resolve(undefined),
  }
}
