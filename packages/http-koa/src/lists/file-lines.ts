import type { RouterMiddleware } from '@koa/router'
import { streamBody } from '../downloads/stream-body.ts'
import type { AuditRecorder, RecordEvent } from '../guards/audit.ts'
import { logFault, type HttpLog } from '../guards/errors.ts'
import { errorBody, type ErrorBody, toProblem } from '../http/problems.ts'
import { exchangeIn, type HoldfastState } from '../server/exchange.ts'

/** The outcome for a file: its line, or why it has none. */
export interface FileOutcome {
  readonly line?: object
  readonly failure?: { readonly error: unknown }
}

/** The functions by which changes of files report their outcomes. */
export interface FileReports {
  /** Makes the members of a line that explain an error. */
  readonly explain: (error: unknown) => ErrorBody
  readonly record: RecordEvent
}

interface Reporting {
  /** The event of the change in the audit trail. */
  readonly event: 'upload' | 'delete'
  readonly log: HttpLog
  readonly recorder: AuditRecorder
  /** Makes the error for a request without any file. Default: the answer has no lines then. */
  readonly refuseNone?: () => Error
}

type RouterContext = Parameters<RouterMiddleware<HoldfastState>>[0]
type Outcomes = AsyncGenerator<readonly FileOutcome[], undefined>

/**
 * Answers with a line of JSON for each outcome from `begin`. Ends the iteration when the client leaves.
 *
 * @throws all that `begin` throws, and the failure of the first outcome; the audit trail gets a record of it
 */
export async function answerFileLines(
  ctx: RouterContext,
  { event, log, recorder, refuseNone }: Reporting,
  begin: (reports: FileReports) => Outcomes | Promise<Outcomes>,
): Promise<void> {
  const recordInTrail = recorder(exchangeIn(ctx))
  let recorded = 0
  const record: RecordEvent = (...recordedEvent) => {
    recorded++
    return recordInTrail(...recordedEvent)
  }
  const explain = (error: unknown) => {
    const problem = toProblem(error)
    logFault(log, ctx.state, error, problem)
    return errorBody(problem.status, problem.message)
  }
  try {
    const outcomes = await begin({ explain, record })
    const first = await outcomes.next()
    if (first.done && refuseNone) throw refuseNone()
    await answer(ctx, first.value ?? [], outcomes, explain)
  } catch (error) {
    // If something was recorded, the request has its record, or the trail itself has failed.
    if (recorded === 0) await record(event, {}, { error })
    throw error
  }
}

/** Sends the lines. Rejects only before the first line is written. */
async function answer(
  ctx: RouterContext,
  first: readonly FileOutcome[],
  rest: Outcomes,
  explain: FileReports['explain'],
): Promise<void> {
  // If the trail fails for the first file, the response's status can still show that.
  if (first[0]?.failure) {
    await rest.return(undefined)
    throw first[0].failure.error
  }
  ctx.status = 200
  ctx.type = 'application/x-ndjson; charset=utf-8'
  if (first.length === 0) ctx.body = ''
  else await streamBody(ctx, asLines(first, rest, explain), () => rest.return(undefined))
}

async function* asLines(
  first: readonly FileOutcome[],
  rest: AsyncIterable<readonly FileOutcome[]>,
  explain: FileReports['explain'],
): AsyncIterable<string> {
  try {
    yield* linesOf(first)
    for await (const outcomes of rest) yield* linesOf(outcomes)
  } catch (error) {
    yield asLine(explain(error))
  }
}

/** The lines of `outcomes` as one text, up to the first failure; then throws that. */
function* linesOf(outcomes: readonly FileOutcome[]): Iterable<string> {
  const failed = outcomes.findIndex(({ failure }) => failure)
  const lines = failed < 0 ? outcomes : outcomes.slice(0, failed)
  if (lines.length > 0) yield lines.map(({ line }) => asLine(line)).join('')
  if (failed >= 0) throw outcomes[failed]?.failure?.error
}

function asLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

/** Work on an item, which has started. Neither promise rejects. */
export interface StartedWork<Result> {
  /** Resolves when the next item may be asked for. */
  readonly taken: Promise<unknown>
  readonly result: Promise<Result>
}

/**
 * Calls `begin` for each of `items`, and yields the results in the order of the items, as soon as possible: each array has all
 * results that are ready in this order. At most `limit` items are in work or wait to be yielded at a time. If `items` fail, this
 * fails, too, after the results of the items before.
 */
export async function* orderedConcurrentMap<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  begin: (item: Item) => StartedWork<Result>,
): AsyncGenerator<readonly Result[], undefined> {
  const underWay: Slot<Result>[] = []
  const changes = createNotifier()
  const state = { isOver: false, isLeft: false }

  const takeAll = async () => {
    for await (const item of items) {
      const { taken, result } = begin(item)
      const slot: Slot<Result> = {}
      underWay.push(slot)
      void result.then((value) => {
        slot.ended = { value }
        changes.notify()
      })
      await taken
      while (underWay.length >= limit && !state.isLeft) await changes.next()
      if (state.isLeft) return
    }
  }

  const taking = takeAll().finally(() => {
    state.isOver = true
    changes.notify()
  })
  // A failure is thrown only after the results of the items before; until then it must not count as unhandled.
  taking.catch(() => {})
  try {
    while (!state.isOver || underWay.length > 0) {
      const ready = takeReady(underWay)
      if (ready.length === 0) await changes.next()
      else {
        changes.notify()
        yield ready
      }
    }
    await taking
  } finally {
    state.isLeft = true
    changes.notify()
  }
}

/** The result of one item, once it has ended. */
interface Slot<Result> {
  ended?: { readonly value: Result }
}

/** Removes and returns the results at the front of `slots` that are ready. */
function takeReady<Result>(slots: Slot<Result>[]): readonly Result[] {
  const ready: Result[] = []
  for (let first = slots[0]; first?.ended; first = slots[0]) {
    ready.push(first.ended.value)
    slots.shift()
  }
  return ready
}

/** Lets several callers wait for the next event. */
function createNotifier() {
  let { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    next: () => promise,
    notify: () => {
      resolve(undefined)
      ;({ promise, resolve } = Promise.withResolvers<undefined>())
    },
  }
}
