/** Ends a request that stands still. */
export interface ProgressWatch {
  /** Aborted with the caller's signal, and when nothing has happened for too long. */
  readonly signal: AbortSignal
  progress(): void
  /** The same content; that its reader takes its time is no standstill. */
  body(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void>
  /** Stops watching. */
  end(): void
}

export function watchProgress(
  outer: AbortSignal | undefined,
  idleTimeoutMs: number,
): ProgressWatch {
  const controller = new AbortController()
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort)

  const standsStill = () =>
    controller.abort(new Error(`nothing came or went for ${idleTimeoutMs / 1000} s`))
  let timer = setTimeout(standsStill, idleTimeoutMs)
  const stop = () => clearTimeout(timer)
  const progress = () => {
    stop()
    timer = setTimeout(standsStill, idleTimeoutMs)
  }
  const end = () => {
    stop()
    outer?.removeEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    progress,
    end,
    async *body(content) {
      try {
        progress()
        for await (const chunk of content) {
          stop()
          yield chunk
          progress()
        }
      } finally {
        end()
      }
    },
  }
}
