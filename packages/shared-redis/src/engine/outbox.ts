import type { Engine } from './engine.ts'

/** Work that the engine must have done in the end. */
export interface Outbox {
  /**
   * Calls `work` at once, and again until it resolves: when the engine is back, and each second while the engine is there but
   * refuses or does not answer. A repetition of `work` must have no further effect. Resolves when the first call has settled.
   */
  add(work: () => Promise<unknown>): Promise<void>
}

interface Waiting {
  readonly work: () => Promise<unknown>
  readonly since: number
}

const retryMs = 1_000

export interface OutboxOptions {
  /** How much work is kept while the engine is away; beyond that, the oldest is discarded. Default: 10,000. */
  readonly most?: number
  /** After how long work is discarded that the engine has not done, in milliseconds. Default: an hour. */
  readonly maxAgeMs?: number
}

/** Makes an {@link Outbox}. Its timer does not keep the process alive, and does not run while the engine is away. */
export function createOutbox(
  engine: Pick<Engine, 'isAway' | 'onChange'>,
  { most = 10_000, maxAgeMs = 3_600_000 }: OutboxOptions = {},
): Outbox {
  // In the order of their arrival.
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined

  const keep = (one: Waiting) => {
    if (performance.now() - one.since > maxAgeMs) return
    waiting.add(one)
    const [oldest] = waiting
    if (waiting.size > most && oldest) waiting.delete(oldest)
    // Without the engine, `onChange` says when to retry.
    if (!engine.isAway()) timer ??= setTimeout(retryAll, retryMs).unref()
  }
  const attempt = async (one: Waiting) => {
    try {
      await one.work()
    } catch {
      // The engine is away, or does not accept the work at present, as a replica or while it loads its data.
      keep(one)
    }
  }
  const retryAll = () => {
    clearTimeout(timer)
    timer = undefined
    const all = [...waiting]
    waiting.clear()
    for (const one of all) void attempt(one)
  }
  engine.onChange((isAway) => {
    if (!isAway) retryAll()
  })
  return { add: (work) => attempt({ work, since: performance.now() }) }
}
