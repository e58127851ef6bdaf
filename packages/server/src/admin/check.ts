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

/** Runs the check once; `signal` aborts when the result is no longer needed. */
export type Look = (signal: AbortSignal) => Promise<CheckResult>

/**
 * A check that takes time and may hang. It runs once at a time for any number of callers, and a fresh result is used
 * again. A run that takes long is not awaited while there is an earlier result, since callers have time limits, too. An
 * error of `look` becomes the reason of a failed check.
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
