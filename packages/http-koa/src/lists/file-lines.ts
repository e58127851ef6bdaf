import type { RouterMiddleware } from '@koa/router'
import { streamBody } from '../downloads/stream-body.ts'
import type { AuditRecorder, RecordEvent } from '../guards/audit.ts'
import { logFault, type HttpLog } from '../guards/errors.ts'
import { errorBody, type ErrorBody, toProblem } from '../http/problems.ts'
import { exchangeIn, type HoldfastState } from '../server/exchange.ts'

/** What became of a file: its line, or why there is none. */
export interface FileOutcome {
  readonly line?: object
  readonly failure?: { readonly error: unknown }
}

/** What the changes of files report with. */
export interface FileReports {
  /** The members of a line that explain an error. */
  readonly explain: (error: unknown) => ErrorBody
  readonly record: RecordEvent
}

interface Reporting {
  /** What the audit trail calls the change of a file. */
  readonly event: 'upload' | 'delete'
  readonly log: HttpLog
  readonly recorder: AuditRecorder
  /** The error where there is no file at all. Default: that is an answer without lines. */
  readonly refuseNone?: () => Error
}

type RouterContext = Parameters<RouterMiddleware<HoldfastState>>[0]
type Outcomes = AsyncGenerator<readonly FileOutcome[], undefined>

/**
 * Answers with a line of JSON for each outcome that `begin` yields. Ends the iteration when the client leaves.
 *
 * @throws what `begin` throws, and the first outcome's failure; the audit trail has a line of it
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
    // If the trail has been given the first file, it may be the trail that failed.
    if (recorded === 0) await record(event, {}, { error })
    throw error
  }
}

/** Rejects only before the first line is written. */
async function answer(
  ctx: RouterContext,
  first: readonly FileOutcome[],
  rest: Outcomes,
  explain: FileReports['explain'],
): Promise<void> {
  // If the trail fails for the first file, the response's status can still say so.
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

/** The lines of files whose outcome is known, as one text; then throws the failure of the first that has no line. */
function* linesOf(outcomes: readonly FileOutcome[]): Iterable<string> {
  const failed = outcomes.findIndex(({ failure }) => failure)
  const lines = failed < 0 ? outcomes : outcomes.slice(0, failed)
  if (lines.length > 0) yield lines.map(({ line }) => asLine(line)).join('')
  if (failed >= 0) throw outcomes[failed]?.failure?.error
}

function asLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

/** Work on an item that has begun. Neither promise rejects. */
export interface StartedWork<Result> {
  /** Resolves when the next item may be asked for. */
  readonly taken: Promise<unknown>
  readonly result: Promise<Result>
}

/**
 * What `begin` makes of each of `items`, in their order and as soon as it is there, together with what is there of those
 * that follow. At most `limit` of them wait or are worked on at a time. Where `items` fail, so does this, behind the
 * results of what came before.
 */
export async function* orderedConcurrentMap<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  begin: (item: Item) => StartedWork<Result>,
): AsyncGenerator<readonly Result[], undefined> {
  const underWay: Slot<Result>[] = []
  const news = createNews()
  const state = { isOver: false, isLeft: false }

  const takeAll = async () => {
    for await (const item of items) {
      const { taken, result } = begin(item)
      const slot: Slot<Result> = {}
      underWay.push(slot)
      void result.then((value) => {
        slot.ended = { value }
        news.tell()
      })
      await taken
      while (underWay.length >= limit && !state.isLeft) await news.next()
      if (state.isLeft) return
    }
  }

  const taking = takeAll().finally(() => {
    state.isOver = true
    news.tell()
  })
  // It is looked at when the results before have been.
  taking.catch(() => {})
  try {
    while (!state.isOver || underWay.length > 0) {
      const ready = takeReady(underWay)
      if (ready.length === 0) await news.next()
      else {
        news.tell()
        yield ready
      }
    }
    await taking
  } finally {
    state.isLeft = true
    news.tell()
  }
}

/** A place in the line of results. */
interface Slot<Result> {
  ended?: { readonly value: Result }
}

/** Removes the results at the front of `slots` that are there. */
function takeReady<Result>(slots: Slot<Result>[]): readonly Result[] {
  const ready: Result[] = []
  for (let first = slots[0]; first?.ended; first = slots[0]) {
    ready.push(first.ended.value)
    slots.shift()
  }
  return ready
}

/** Lets several wait for the next thing that happens. */
function createNews() {
  let { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    next: () => promise,
    tell: () => {
      resolve(undefined)
      ;({ promise, resolve } = Promise.withResolvers<undefined>())
    },
  }
}
