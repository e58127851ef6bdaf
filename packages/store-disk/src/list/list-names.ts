import { setImmediate } from 'node:timers/promises'
import { compareUtf8, type ListOptions } from '@holdfast/core'
import { abortOnReturn } from './abort-on-return.ts'
import type { HeldNames, NameBudget } from './name-budget.ts'
import { createNameSorter, type NameSorter } from './name-sorter.ts'
import type { Blobs } from './walk-blobs.ts'

/** Names in a page, which are given without a pause; a reader takes a millisecond or two for so many. */
const pageLength = 1024

/** How names are found: see `WalkBlobs`. */
type Walk = <T>(use: (blobs: Blobs) => Promise<T>) => Promise<T>

/**
 * The names of the blobs that `walk` brings, each once, in ascending order of their UTF-8 bytes, cut as `options` say, in
 * pages.
 * Names are found before the first is given, all of them as far as `budget` lets them be held; a reader who stops
 * meanwhile ends that. Where names are dropped, by want of memory or a slow reader, another walk finds those after the
 * last given. Other work of the process goes on all the while.
 */
export function listNames(
  walk: Walk,
  budget: NameBudget,
  { prefix = '', after = '', limit = Infinity }: ListOptions = {},
): AsyncIterable<readonly string[]> {
  return abortOnReturn(async function* (signal) {
    const held = budget.open()
    try {
      let [last, left] = [after, limit]
      while (left > 0) {
        const rest = { prefix, after: last, limit: left }
        const found = await walk((blobs) => select(blobs, rest, held, signal))
        if (signal.aborted) return
        const pages = takePages(found, held)
        for (let page = pages.next(); page.length > 0; page = pages.next()) {
          yield page
          last = page.at(-1) ?? last
          left -= page.length
          // A fast reader would keep the process from everything else until the end of the list.
          await setImmediate()
        }
        if (pages.isComplete()) return
      }
    } finally {
      held.release()
    }
  })
}

/** Takes names in pages from what was found; nothing when that has ended, or was dropped. */
function takePages(found: NameSorter, held: HeldNames) {
  let names: Iterator<string> | undefined = found.sorted()[Symbol.iterator]()
  let isComplete = false
  return {
    next(): readonly string[] {
      const page: string[] = []
      while (names && page.length < pageLength) {
        const name = names.next()
        if (name.done) {
          isComplete = !found.isCut()
          break
        }
        page.push(name.value)
      }
      held.wait(() => (names = undefined))
      return page
    },
    isComplete: () => isComplete,
  }
}

async function select(
  blobs: Blobs,
  { prefix, after, limit }: Required<ListOptions>,
  held: HeldNames,
  signal: AbortSignal,
): Promise<NameSorter> {
  held.release()
  const sorter = createNameSorter({ limit, grow: (bytes) => held.grow(bytes) })
  for await (const batch of blobs) {
    if (signal.aborted) break
    for (const { name } of batch) {
      if (name.startsWith(prefix) && compareUtf8(name, after) > 0) sorter.add(name)
    }
    await sorter.settle()
  }
  return sorter
}
