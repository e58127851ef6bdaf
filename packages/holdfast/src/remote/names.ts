import { isHoldfastError, type Client } from '@holdfast/client'
import { isReaderGone } from '../terminal/print.ts'
import { exitCodeOf, exitCodes, CommandError, usageError } from './errors.ts'
import type { Report } from './report.ts'
import { createMatcher, fixedStart, isPattern } from './selection.ts'

interface Bounds {
  /** See `Remote`. */
  readonly answers: (signal: AbortSignal) => Promise<boolean>
  /** How many at a time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly report: Report
}

/**
 * Calls `work` for each item, several at a time, in their order. Reports each failure under the item's name, and continues with the
 * others. What `work` passes to `finishLater` does not hold up the next item. Resolves when no work is running any more.
 *
 * @throws at the end the error that makes the rest pointless: an abort, a login that the server refuses, a server that answers nothing any
 * more, a reader of standard output that has stopped
 */
export async function forEachName<T>(
  items: Iterable<T> | AsyncIterable<T>,
  nameOf: (item: T) => string,
  { answers, concurrency, signal, report }: Bounds,
  work: (item: T, signal: AbortSignal, finishLater: (rest: Promise<void>) => void) => Promise<void>,
): Promise<void> {
  const pointless = new AbortController()
  const until = AbortSignal.any([signal, pointless.signal])
  const iterator = iterate(items)
  const isOver = () => until.aborted
  const unfinished = new Set<Promise<void>>()
  const attempt = async (item: T, doIt: () => Promise<void>) => {
    try {
      await doIt()
    } catch (error) {
      if (isOver()) return
      const isPointless = await endsCommand(error, { answers, signal: until })
      if (isOver()) return
      if (isPointless) pointless.abort(error)
      else await report.failed(nameOf(item), error)
    }
  }
  const worker = async () => {
    while (!isOver()) {
      const step = await iterator.next()
      if (step.done === true) return
      const item = step.value
      const finishLater = (rest: Promise<void>) => {
        const ending = attempt(item, () => rest).finally(() => unfinished.delete(ending))
        // The end throws its error.
        ending.catch(() => {})
        unfinished.add(ending)
      }
      await attempt(item, () => work(item, until, finishLater))
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  const ends = [...workers, ...(await Promise.allSettled(unfinished))]
  await iterator.return(undefined)
  until.throwIfAborted()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Whether an error makes the remaining work pointless. Of one without an answer only the server can say whether others get theirs. */
export async function endsCommand(
  error: unknown,
  { answers, signal }: Pick<Bounds, 'answers' | 'signal'>,
): Promise<boolean> {
  if (isReaderGone(error) || exitCodeOf(error) === exitCodes.login) return true
  if (!isHoldfastError(error, 'no-answer')) return false
  const known = isServerGone.get(error) ?? answers(signal).then((hasAnswered) => !hasAnswered)
  isServerGone.set(error, known)
  return known
}

/** An error may be judged twice: of one file of a batch, and of the batch. */
const isServerGone = new WeakMap<Error, Promise<boolean>>()

async function* iterate<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* items
  return undefined
}

interface Expansion {
  readonly client: Client
  readonly report: Report
  readonly signal: AbortSignal
}

interface Reading {
  /** Whether `*`, `?` and `[` are ordinary characters. */
  readonly literal?: boolean
}

/**
 * The file names that `patterns` mean, each once, in the order of the patterns. A word without `*`, `?` and `[` is a name, whether or not
 * the file exists. Any other word is a pattern, unless a file has exactly that name. A pattern that matches nothing is reported.
 */
export async function* expandNames(
  patterns: readonly string[],
  { literal = false }: Reading,
  expansion: Expansion,
): AsyncGenerator<string, void> {
  if (patterns.length === 0) throw usageError('Say the name of a file.')
  const seen = new Set<string>()
  for (const pattern of patterns) {
    const isName = literal || !isPattern(pattern)
    for await (const name of isName ? [pattern] : matches(pattern, expansion)) {
      if (!seen.has(name)) yield name
      seen.add(name)
    }
  }
}

async function* matches(
  pattern: string,
  { client, report, signal }: Expansion,
): AsyncGenerator<string, void> {
  if (await exists(client, pattern, signal)) {
    yield pattern
    return
  }
  const isMatch = createMatcher(pattern)
  const prefix = fixedStart(pattern)
  let found = 0
  for await (const name of client.list({ prefix, signal })) {
    if (!isMatch(name)) continue
    found++
    yield name
  }
  if (found > 0) return
  await report.failed(pattern, new CommandError(exitCodes.notFound, 'No file matches.'))
}

async function exists(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.stat(name, { signal })
    return true
  } catch (error) {
    if (isHoldfastError(error, 'not-found', 'no-files-yet', 'invalid-query')) return false
    throw error
  }
}
