import { setTimeout as delay } from 'node:timers/promises'

/** The result of a check. Further fields give details. */
export interface CheckResult {
  readonly ok: boolean
  /** What is wrong, for an administrator. */
  readonly why?: string
  readonly [detail: string]: unknown
}

/** A condition for a server to be ready. */
export interface Check {
  readonly name: string
  look(): CheckResult | Promise<CheckResult>
}

export interface SteadyCheckOptions {
  /** How long a result is as good as new, in milliseconds. Default: 2,000. */
  readonly freshMs?: number
  /** How long to wait for a new result while the last one still counts, in milliseconds. Default: 500. */
  readonly patienceMs?: number
  /** The same where no result counts, in milliseconds. Default: 5,000. */
  readonly waitMs?: number
  /** How long a result counts at most, and how long a look may take until it has failed, in milliseconds. Default: 15,000. */
  readonly limitMs?: number
}

/** Looks once; `signal` aborts when nobody waits for the result any more. */
export type Look = (signal: AbortSignal) => Promise<CheckResult>

/**
 * A check whose look takes time, and may hang. However many ask, and however often, one looks at a time, and a result is
 * told again as long as it is fresh. A look that takes long is not waited for while there is an earlier result to tell:
 * whoever asks has a time limit as well. What it throws is told as what is wrong.
 */
export function steadyCheck(name: string, look: Look, options: SteadyCheckOptions = {}): Check {
  const { freshMs = 2_000, patienceMs = 500, waitMs = 5_000, limitMs = 15_000 } = options
  let last: { readonly result: CheckResult; readonly at: number } | undefined
  let underWay: { readonly since: number; readonly done: Promise<void> } | undefined

  const lookNow = async (since: number) => {
    const result = await outcomeOf(look, limitMs)
    const at = performance.now()
    last = { result: { ...result, durationMs: Math.round(at - since) }, at }
    underWay = undefined
  }
  const begin = () => {
    const since = performance.now()
    return { since, done: lookNow(since) }
  }
  const lastWithin = (ms: number) =>
    last && performance.now() - last.at < ms ? last.result : undefined

  return {
    name,
    async look() {
      const fresh = lastWithin(freshMs)
      if (fresh) return fresh
      const { since, done } = (underWay ??= begin())
      const isOver = () => underWay?.since !== since
      const left = since + limitMs - performance.now()
      await settledWithin(done, lastWithin(limitMs) ? patienceMs : Math.min(waitMs, left))
      const result = isOver() ? last?.result : lastWithin(limitMs)
      return result ?? silent(performance.now() - since)
    },
  }
}

async function outcomeOf(look: Look, limitMs: number): Promise<CheckResult> {
  const signal = AbortSignal.timeout(limitMs)
  try {
    return await look(signal)
  } catch (error) {
    return signal.aborted ? silent(limitMs) : { ok: false, why: reasonOf(error) }
  }
}

function silent(ms: number): CheckResult {
  return { ok: false, why: `there has been no answer for ${Math.round(ms / 1000)} s` }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** Resolves when `done` does, or after `ms`. */
async function settledWithin(done: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController()
  const { signal } = timer
  await Promise.race([done, delay(Math.max(0, ms), undefined, { signal }).catch(() => {})])
  timer.abort()
}
