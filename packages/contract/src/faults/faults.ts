/**
 * The moments of a call at which a fault may occur.
 *
 * - `call`: before the call does anything; with a listing, before its first page.
 * - `item`: before a chunk of content, a page of a list, or a customer is passed on.
 * - `end`: after all chunks, pages or customers have been passed on, and before the receiver gets the end.
 * - `answer`: after the call has taken effect, and before the caller gets the result.
 * - `close`: after an opened blob has been closed, and before the caller gets the result.
 */
export type FaultMoment = 'call' | 'item' | 'end' | 'answer' | 'close'

/** A point in a call at which a fault may occur. */
export interface FaultStep {
  /** The method: of a `BlobStore`, or the name given to {@link Faults.call}. */
  readonly method: string
  readonly moment: FaultMoment
}

/** A fault, and where it occurs. */
export interface Fault {
  /** The number of the step that fails, counted from 1. */
  readonly nth: number
  /** Which steps count, such as `{ method: 'put', moment: 'item' }`. Default: all. */
  readonly only?: Partial<FaultStep>
  /** Whether all steps after the nth fail as well, as in an outage. Default: only the nth. */
  readonly lasting?: boolean
  /** The step waits for this. A put's signal, or a reader that stops, ends the wait. Default: no wait. */
  readonly hold?: Promise<unknown>
  /** The error of the step, after the wait. Default: an `Error` that names the step; with `hold`, none. */
  readonly error?: Error
  /** Called with each step at which the fault occurs. */
  readonly onStrike?: (step: FaultStep) => void
}

/** Counts the steps of calls, and makes them fail or wait as planned. */
export interface Faults {
  /** Plans `fault`, or none, and restarts the count. Steps that are waiting continue to wait. */
  plan(fault?: Fault): void
  /** The steps since the last plan, in order, including those with a fault. */
  steps(): readonly FaultStep[]
  /** Those of {@link steps} at which the fault occurred. */
  struck(): readonly FaultStep[]
  /** Calls that have not settled, opened blobs that are neither read nor closed, and listings that have not ended. */
  underWay(): number
  /**
   * Runs `body` as a call of `method`, with a step before and one after it. It can inject faults into any function that returns a promise:
   * `{ find: (name) => faults.call('find', () => source.find(name)) }`. `signal` ends a wait at these steps; the call then rejects with
   * its reason.
   */
  call<Result>(method: string, body: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Reports a step: resolves, waits, or rejects, as planned. */
  pass(step: FaultStep, signal?: AbortSignal): Promise<void>
  /** Counts something as under way until the returned function is called; further calls of that do nothing. */
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

/** Resolves when `promise` has settled in any way; rejects with the signal's reason as soon as that aborts. */
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
