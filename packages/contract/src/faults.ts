import type {
  BlobKey,
  BlobStore,
  Expiry,
  History,
  KeepOptions,
  LinkGenerations,
  OpenBlob,
  RenameOptions,
  ResumableUploads,
} from '@holdfast/core'

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

/**
 * Wraps `store`: its calls have the steps of `faults`, and fail or wait there as planned. Without a plan it behaves as `store` does. The
 * steps of a call, in order:
 *
 * - `put`: `call`; an `item` for each chunk that the store takes; `end` before the store gets the end of the content; `answer` when the
 *   blob is stored.
 * - `open`: `call`; `answer`; then, as the content is read, an `item` for each chunk and `end`; `close` for each time
 *   it is closed. An opened blob that the caller does not get is closed.
 * - `stat`, `delete`, `rename`, `usage`: `call`, `answer`.
 * - `list`, `listDetails`, `customers`: `call` when the first item is requested; an `item` for each page of a list and for
 *   each customer; `end`.
 * - the methods of `resumable`: see `injectUploadFaults`; those of `linkGenerations`, `expiry` and `history`: the steps of the calls
 *   above of the same kind, with names such as `linkGenerations.read`.
 *
 * Faults keep the port's promises: open content is closed, and the caller gets the original error. A fault at `item`
 * or `end` of a put reaches the store as content that throws, so that the store cleans up.
 */
export function injectFaults(store: BlobStore, faults: Faults): BlobStore {
  const rename = store.rename?.bind(store)
  return {
    put(key, content, options = {}) {
      const { signal } = options
      const taken = takenWith(faults, 'put', content, signal)
      return faults.call('put', () => store.put(key, taken, options), signal)
    },

    open: (key, options) => openWith(faults, 'open', () => store.open(key, options)),

    stat: (key) => faults.call('stat', () => store.stat(key)),
    delete: (key, options) => faults.call('delete', () => store.delete(key, options)),
    ...(rename && {
      rename: (key: BlobKey, to: string, options?: RenameOptions & KeepOptions) =>
        faults.call('rename', () => rename(key, to, options)),
    }),
    list: (customer, options) => listedWith(faults, 'list', () => store.list(customer, options)),
    listDetails: (customer, options) =>
      listedWith(faults, 'listDetails', () => store.listDetails(customer, options)),
    usage: (customer) => faults.call('usage', () => store.usage(customer)),
    customers: () => listedWith(faults, 'customers', () => store.customers()),
    ...(store.resumable && { resumable: injectUploadFaults(store.resumable, faults) }),
    ...(store.linkGenerations && {
      linkGenerations: injectGenerationFaults(store.linkGenerations, faults),
    }),
    ...(store.history && { history: injectHistoryFaults(store.history, faults) }),
    ...(store.expiry && { expiry: injectExpiryFaults(store.expiry, faults) }),
  }
}

async function openWith(
  faults: Faults,
  method: string,
  open: () => Promise<OpenBlob | undefined>,
): Promise<OpenBlob | undefined> {
  const done = faults.begin()
  try {
    await faults.pass({ method, moment: 'call' })
    const blob = await open()
    await closingOnFailure(blob, faults.pass({ method, moment: 'answer' }))
    return blob && openedWith(blob, faults, method)
  } finally {
    done()
  }
}

async function closingOnFailure(blob: OpenBlob | undefined, step: Promise<void>): Promise<void> {
  try {
    await step
  } catch (error) {
    await blob?.close()
    throw error
  }
}

function openedWith(blob: OpenBlob, faults: Faults, method: string): OpenBlob {
  const done = faults.begin()
  const closing = new AbortController()
  return {
    info: blob.info,
    range: blob.range,
    content: withSteps(() => blob.content, {
      begin: () => done,
      reach: (moment, stopped) =>
        faults.pass({ method, moment }, AbortSignal.any([closing.signal, stopped])),
    }),
    async close() {
      closing.abort(new Error('The blob was closed'))
      await blob.close()
      done()
      await faults.pass({ method, moment: 'close' })
    },
  }
}

function injectGenerationFaults(generations: LinkGenerations, faults: Faults): LinkGenerations {
  return {
    read: (customer) => faults.call('linkGenerations.read', () => generations.read(customer)),
    renew: (customer) => faults.call('linkGenerations.renew', () => generations.renew(customer)),
  }
}

function injectHistoryFaults(history: History, faults: Faults): History {
  return {
    versions: (key, options) =>
      listedWith(faults, 'history.versions', () => history.versions(key, options)),
    deleted: (customer, options) =>
      listedWith(faults, 'history.deleted', () => history.deleted(customer, options)),
    kept: (customer) => listedWith(faults, 'history.kept', () => history.kept(customer)),
    open: (key, options) => openWith(faults, 'history.open', () => history.open(key, options)),
    restore: (key, to, options) =>
      faults.call('history.restore', () => history.restore(key, to, options)),
    purge: (customer, before) =>
      faults.call('history.purge', () => history.purge(customer, before)),
    customers: () => listedWith(faults, 'history.customers', () => history.customers()),
  }
}

function injectExpiryFaults(expiry: Expiry, faults: Faults): Expiry {
  return {
    deleteUnchanged: (customer, blob, options) =>
      faults.call('expiry.deleteUnchanged', () => expiry.deleteUnchanged(customer, blob, options)),
    readNote: (customer) => faults.call('expiry.readNote', () => expiry.readNote(customer)),
    writeNote: (customer, note) =>
      faults.call('expiry.writeNote', () => expiry.writeNote(customer, note)),
  }
}

/**
 * Wraps `uploads`: its calls have steps of `faults` with names such as `resumable.append`. The steps of a call, in order:
 *
 * - `append`: the same as `put`; a fault at `item` or `end` reaches the store as content that throws, so that the bytes before it count.
 * - `list`, `content`: `call` when the first item is requested; an `item` for each page or chunk; `end`.
 * - all others: `call`, `answer`.
 */
function injectUploadFaults(uploads: ResumableUploads, faults: Faults): ResumableUploads {
  const call = <Result>(method: keyof ResumableUploads, body: () => Promise<Result>) =>
    faults.call(`resumable.${method}`, body)
  return {
    begin: (customer, plan) => call('begin', () => uploads.begin(customer, plan)),
    state: (key) => call('state', () => uploads.state(key)),
    append(key, offset, content, options = {}) {
      const { signal } = options
      const taken = takenWith(faults, 'resumable.append', content, signal)
      const append = () => uploads.append(key, offset, taken, options)
      return faults.call('resumable.append', append, signal)
    },
    interrupt: (key) => call('interrupt', () => uploads.interrupt(key)),
    declareLength: (key, length) => call('declareLength', () => uploads.declareLength(key, length)),
    content: (key) => listedWith(faults, 'resumable.content', () => uploads.content(key)),
    publish: (key, options) => call('publish', () => uploads.publish(key, options)),
    remember: (customer, plan, published) =>
      call('remember', () => uploads.remember(customer, plan, published)),
    discard: (key) => call('discard', () => uploads.discard(key)),
    list: (customer) => listedWith(faults, 'resumable.list', () => uploads.list(customer)),
    sweep: (now) => call('sweep', () => uploads.sweep(now)),
  }
}

/** The steps of one iteration. */
interface ItemSteps {
  /** Called when the iteration begins; the function that it returns is called when that has ended in any way. */
  readonly begin: () => () => void
  /** Reports a step; `stopped` aborts when the reader stops the iteration. */
  readonly reach: (moment: 'item' | 'end', stopped: AbortSignal) => Promise<void>
}

/**
 * Yields the items of `source`, with a step before each item and one before the end. If a step fails, closes the iteration of the source,
 * and ends this one with the step's error.
 */
function withSteps<Item>(
  source: (stopped: AbortSignal) => AsyncIterable<Item>,
  { begin, reach }: ItemSteps,
): AsyncIterable<Item> {
  const iterate = (): AsyncIterator<Item, undefined> => {
    const stop = new AbortController()
    const iterator = source(stop.signal)[Symbol.asyncIterator]()
    const done = begin()
    const finish = () => {
      stop.abort(new Error('The reader has stopped'))
      done()
      return { done: true, value: undefined } as const
    }
    const deliver = async (next: IteratorResult<Item, unknown>) => {
      if (stop.signal.aborted) return finish()
      await reach(next.done ? 'end' : 'item', stop.signal)
      return next.done ? finish() : next
    }

    return {
      next: async () => {
        if (stop.signal.aborted) return finish()
        try {
          return await deliver(await iterator.next())
        } catch (error) {
          await iterator.return?.()
          finish()
          throw error
        }
      },
      return: async () => {
        // Abort first: an iterator that waits at a step closes only after the wait.
        stop.abort(new Error('The reader has stopped'))
        await iterator.return?.()
        return finish()
      },
    }
  }
  return { [Symbol.asyncIterator]: () => iterate() }
}

/** Yields what `list` does, as a call of `method` with steps of `faults`; starts when the first item is requested. */
function listedWith<Item>(
  faults: Faults,
  method: string,
  list: () => AsyncIterable<Item>,
): AsyncIterable<Item> {
  async function* items(stopped: AbortSignal) {
    await faults.pass({ method, moment: 'call' }, stopped)
    yield* list()
  }
  return withSteps(items, {
    begin: () => faults.begin(),
    reach: (moment, stopped) => faults.pass({ method, moment }, stopped),
  })
}

/** The `content` that a call of `method` reads, with a step of `faults` for each chunk and for the end. */
function takenWith(
  faults: Faults,
  method: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  return withSteps(() => content, {
    begin: () => () => {},
    reach: (moment, stopped) =>
      faults.pass({ method, moment }, signal ? AbortSignal.any([signal, stopped]) : stopped),
  })
}

export type EveryFaultOptions = Omit<Fault, 'nth' | 'onStrike'>

/**
 * Runs `scenario` with a fault at the first step, then at the second, and so on, until a run does not reach its fault: the last run has
 * none. Each run must create everything anew, and pass its fault to `Faults.plan`. Resolves with the steps at which faults occurred, one
 * per run; with `lasting` the first of each run.
 *
 * Rejects if a run rejects, with an `Error` that names the step and has the run's error as its `cause`. Also rejects if already the first
 * run reaches no fault, since that would prove nothing.
 */
export async function forEveryFault(
  scenario: (fault: Fault) => Promise<void>,
  options: EveryFaultOptions = {},
): Promise<readonly FaultStep[]> {
  const struck: FaultStep[] = []
  while (true) {
    const step = await runWith(scenario, { ...options, nth: struck.length + 1 })
    if (step === undefined) break
    struck.push(step)
  }
  if (struck.length === 0) throw new Error('The scenario meets no fault')
  return struck
}

async function runWith(
  scenario: (fault: Fault) => Promise<void>,
  fault: Fault,
): Promise<FaultStep | undefined> {
  let struck: FaultStep | undefined
  try {
    await scenario({ ...fault, onStrike: (step) => (struck ??= step) })
  } catch (error) {
    const where = struck ? `${struck.method}, ${struck.moment}` : 'not met'
    throw new Error(`Under fault ${fault.nth} (${where}): ${String(error)}`, { cause: error })
  }
  return struck
}
