/** Computes one after another, apart from the caller's thread. */
export interface HashingThread<Input, Output> {
  /** Resolves to `undefined` if the thread failed; then it computes no more. */
  compute(input: Input): Promise<Output | undefined>
  stop(): void
}

export interface HashingThreadsOptions<Input, Output> {
  /** Computations at a time, and so threads. */
  readonly max: number
  /** Starts a thread. May throw. */
  readonly start: () => HashingThread<Input, Output>
  /** Computes without a thread: what is computed alone, and what a thread could not. */
  readonly instead: (input: Input) => Promise<Output>
  /** How long a thread without work is kept, in milliseconds. Default: 30,000. */
  readonly idleMs?: number
  /** How long none is started after one failed, in milliseconds. Default: 60,000. */
  readonly pauseMs?: number
}

interface IdleThread<Input, Output> {
  readonly thread: HashingThread<Input, Output>
  readonly timer: NodeJS.Timeout
}

/**
 * Threads that start when they are needed and stop when they are not. One computation alone needs none: it leaves the
 * processors to others well enough, and to start a thread costs as much as to compute. Beyond `max` computations wait, first
 * come first served.
 */
export function createHashingThreads<Input, Output>({
  max,
  start,
  instead,
  idleMs = 30_000,
  pauseMs = 60_000,
}: HashingThreadsOptions<Input, Output>): (input: Input) => Promise<Output> {
  // The one that worked last is at the end, and is taken first: the others may stop.
  const idle: IdleThread<Input, Output>[] = []
  const waiting: (() => void)[] = []
  let busy = 0
  let pausedUntil = -Infinity

  const pause = () => void (pausedUntil = performance.now() + pauseMs)

  const takeThread = () => {
    const last = idle.pop()
    clearTimeout(last?.timer)
    if (last || performance.now() < pausedUntil) return last?.thread
    try {
      return start()
    } catch {
      pause()
      return undefined
    }
  }

  const keep = (thread: HashingThread<Input, Output>) => {
    const stop = () => {
      idle.splice(idle.indexOf(one), 1)
      thread.stop()
    }
    const one = { thread, timer: setTimeout(stop, idleMs) }
    one.timer.unref()
    idle.push(one)
  }

  const computeInThread = async (input: Input) => {
    const thread = takeThread()
    const output = await thread?.compute(input)
    if (output === undefined) {
      if (thread) pause()
      return instead(input)
    }
    if (thread) keep(thread)
    return output
  }

  return async (input) => {
    const isAlone = busy === 0
    if (busy < max) busy++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await (isAlone ? instead(input) : computeInThread(input))
    } finally {
      const next = waiting.shift()
      if (next) next()
      else busy--
    }
  }
}
