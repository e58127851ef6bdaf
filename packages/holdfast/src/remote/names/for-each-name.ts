import { isReaderGone } from '../../terminal/print.ts'
import { exitCodeOf } from '../errors/explain.ts'
import { exitCodes } from '../errors/command-error.ts'
import type { Report } from '../output/report.ts'

interface Bounds {
  /** How many at a time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly report: Report
}

/**
 * Calls `work` for each item, several at a time, in their order. Reports each failure under the item's name, and continues with the
 * others. What `work` passes to `finishLater` does not hold up the next item. Resolves when no work is running any more.
 *
 * @throws at the end the error that makes the rest pointless: an abort, a login that the server refuses, a reader of standard output that
 * has stopped
 */
export async function forEachName<T>(
  items: Iterable<T> | AsyncIterable<T>,
  nameOf: (item: T) => string,
  { concurrency, signal, report }: Bounds,
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
      if (endsCommand(error)) pointless.abort(error)
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

/** Whether an error makes the remaining work pointless. */
export function endsCommand(error: unknown): boolean {
  return isReaderGone(error) || exitCodeOf(error) === exitCodes.login
}

async function* iterate<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* items
  return undefined
}
