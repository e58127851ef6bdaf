/**
 * When in the course of a call a fault may strike.
 *
 * - `call`: before the call does anything; with a listing, before its first page.
 * - `item`: before a chunk of content, a page of a list, or a customer is handed on.
 * - `end`: all chunks, pages or customers have been handed on; before the receiver learns that there are no more.
 * - `answer`: the call has taken effect; before the caller learns of it.
 * - `close`: an opened blob has been closed; before the caller learns of it.
 */
export type FaultMoment = 'call' | 'item' | 'end' | 'answer' | 'close'

/** A point that calls pass, at which a fault may strike. */
export interface FaultStep {
  /** The method called; of a `BlobStore`, or the one given to {@link Faults.call}. */
  readonly method: string
  readonly moment: FaultMoment
}

/** What is to go wrong, and where. */
export interface Fault {
  /** The step that is struck, counted from 1. */
  readonly nth: number
  /** Which steps count, such as `{ method: 'put', moment: 'item' }`. Default: all. */
  readonly only?: Partial<FaultStep>
  /** Whether all steps after the nth fail as well, as in an outage. Default: only the nth. */
  readonly lasting?: boolean
  /** What the step waits for. A put's signal and the end of a reader's interest cut the waiting short. Default: nothing. */
  readonly hold?: Promise<unknown>
  /** What the step fails with, after waiting. Default: an `Error` that names the step; with `hold`, nothing. */
  readonly error?: Error
  /** Called with each step that is struck. */
  readonly onStrike?: (step: FaultStep) => void
}

/** Counts the steps of calls, and lets one of them fail or wait as planned. */
export interface Faults {
  /** From now on `fault` is to happen, or none; counting begins anew. What is held already stays held. */
  plan(fault?: Fault): void
  /** The steps passed since the last plan, in order, the struck ones included. */
  steps(): readonly FaultStep[]
  /** Those of {@link steps} that were struck. */
  struck(): readonly FaultStep[]
  /** Calls that have not settled, opened blobs that are neither read nor closed, and listings that have not ended. */
  underWay(): number
  /**
   * Runs `body` as a call of `method`, with a step before and one after it. It injects faults into any function that
   * returns a promise: `{ find: (name) => faults.call('find', () => source.find(name)) }`. `signal` ends a wait at these
   * steps; the call then rejects with its reason.
   */
  call<Result>(method: string, body: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Passes a step: resolves, or waits, or rejects, as planned. */
  pass(step: FaultStep, signal?: AbortSignal): Promise<void>
  /** Counts something as under way until the function returned is called; once is enough. */
  begin(): () => void
}

/** {@link Faults} without a plan: they only count. */
export function createFaults(): Faults {
  let planned: Fault | undefined
  let steps: FaultStep[] = []
  let struck: FaultStep[] = []
  let counted = 0
  let underWay = 0

  const isStruck = ({ nth, only = {}, lasting = false }: Fault, step: FaultStep) => {
    const { method = step.method, moment = step.moment } = only
    if (method !== step.method || moment !== step.moment) return false
    counted++
    return lasting ? counted >= nth : counted === nth
  }

  const pass = async (step: FaultStep, signal?: AbortSignal) => {
    steps.push(step)
    if (!planned || !isStruck(planned, step)) return
    struck.push(step)
    await strike(planned, step, signal)
  }

  const begin = () => {
    let isUnderWay = true
    underWay++
    return () => {
      if (isUnderWay) underWay--
      isUnderWay = false
    }
  }

  return {
    plan(fault) {
      planned = fault
      steps = []
      struck = []
      counted = 0
    },
    steps: () => steps,
    struck: () => struck,
    underWay: () => underWay,
    async call(method, body, signal) {
      const done = begin()
      try {
        await pass({ method, moment: 'call' }, signal)
        const result = await body()
        await pass({ method, moment: 'answer' }, signal)
        return result
      } finally {
        done()
      }
    },
    pass,
    begin,
  }
}

async function strike({ hold, error, onStrike }: Fault, step: FaultStep, signal?: AbortSignal) {
  onStrike?.(step)
  if (hold) await settledUnlessAborted(hold, signal)
  if (error) throw error
  if (!hold) throw new Error(`A fault on purpose: ${step.method}, ${step.moment}`)
}

/** Resolves when `promise` has settled, however; rejects with the signal's reason as soon as that aborts. */
async function settledUnlessAborted(
  promise: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([promise.catch(() => {}), aborted.promise])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
