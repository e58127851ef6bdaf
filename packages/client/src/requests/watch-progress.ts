/** Ends a request that stands still. */
export interface ProgressWatch {
  /** Aborted with the caller's signal, by `abort`, and when nothing has happened for too long. */
  readonly signal: AbortSignal
  readonly abort: (reason: unknown) => void
  /** Notes that something has come or gone. What follows may take `extraMs` longer; by default nothing. */
  progress(extraMs?: number): void
  /** The same content. That its reader takes its time is no standstill. */
  body(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void>
  /** Stops watching. */
  end(): void
}

/** Timers run at once beyond it. */
const longestTimeoutMs = 2 ** 31 - 1

export function watchProgress(
  outer: AbortSignal | undefined,
  idleTimeoutMs: number,
): ProgressWatch {
  const controller = new AbortController()
  const standsStill = (timeoutMs: number) =>
    controller.abort(new Error(`nothing came or went for ${Math.round(timeoutMs) / 1000} s`))
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const pause = () => clearTimeout(timer)
  const end = () => {
    isOver = true
    pause()
  }
  const progress = (extraMs = 0) => {
    pause()
    const timeoutMs = idleTimeoutMs + extraMs
    // What is still being sent after the last byte of the answer is not watched.
    if (isOver || timeoutMs > longestTimeoutMs) return
    timer = setTimeout(() => standsStill(timeoutMs), timeoutMs)
  }
  progress()
  async function* watched(content: AsyncIterable<Uint8Array>) {
    try {
      progress()
      for await (const chunk of content) {
        pause()
        yield chunk
        progress()
      }
    } finally {
      end()
    }
  }
  return {
    signal: outer ? AbortSignal.any([outer, controller.signal]) : controller.signal,
    abort: (reason) => controller.abort(reason),
    progress,
    end,
    body(content) {
      pause()
      return watched(content)
    },
  }
}
