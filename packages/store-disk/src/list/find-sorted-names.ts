import { setImmediate } from 'node:timers/promises'
import { compareUtf8, type ListOptions } from '@holdfast/core'
import type { KeptNames } from './kept-names.ts'
import { memoryOf, toBlocks, type NameBlock } from './name-blocks.ts'
import type { HeldNames, NameBudget } from './name-budget.ts'
import { createNameSorter, type NameSorter } from './name-sorter.ts'
import { pageOf, type SortedNames, type TakePage } from './sorted-names.ts'
import type { Blobs } from './walk-blobs.ts'

export interface NameSource {
  /** How names are found: see `WalkBlobs`. */
  readonly walk: <T>(use: (blobs: Blobs) => Promise<T>) => Promise<T>
  /** For names in memory that are not kept. */
  readonly budget: NameBudget
  readonly kept: KeptNames
}

/** A list of at most so many names is kept, as a small file is; a longer one only if it is read in pages. */
const fewNames = 4096

/** The most bytes of a name. */
const nameLength = 256

/** Finds the names that `rest` asks for by a walk, as many of the first as may be held. */
export async function findNames(
  source: NameSource,
  rest: Required<ListOptions>,
  held: HeldNames,
  signal: AbortSignal,
): Promise<TakePage> {
  const { walk, kept } = source
  const keep = await kept.begin()
  // Half of the names may be dropped on the way.
  const isPaged = keep !== undefined && rest.limit * nameLength <= kept.most / 2
  const { sorter, count } = await walk((blobs) => {
    held.release()
    let bytes = 0
    const grow = (more: number) => {
      bytes += more
      return held.grow(more) && (!isPaged || bytes <= kept.most)
    }
    const limit = isPaged ? Infinity : rest.limit
    return select(blobs, rest, createNameSorter({ limit, grow }), signal)
  })
  const isWorthKeeping = isPaged && count > rest.limit
  const isFew = count <= Math.min(fewNames, rest.limit)
  if (!keep || !(isWorthKeeping || isFew)) return takeFrom(sorter, held)
  const sorted = await collect(sorter, rest, signal)
  if (!signal.aborted) keep(sorted)
  return takeSorted(sorted, held, await kept.open(rest))
}

async function select(
  blobs: Blobs,
  { prefix, after }: Required<ListOptions>,
  sorter: NameSorter,
  signal: AbortSignal,
) {
  let count = 0
  for await (const names of blobs) {
    if (signal.aborted) break
    for (const name of names) {
      if (!name.startsWith(prefix) || compareUtf8(name, after) <= 0) continue
      sorter.add(name)
      count++
    }
  }
  return { sorter, count }
}

function takeFrom(sorter: NameSorter, held: HeldNames): TakePage {
  let pages: Iterator<readonly string[]> | undefined = sorter.pages()
  return () => {
    const page = pages?.next()
    if (!page || (page.done && sorter.isCut())) return undefined
    held.wait(() => (pages = undefined))
    return page.done ? { names: [], isComplete: true } : { names: page.value, isComplete: false }
  }
}

/** All names of `sorter`; other work goes on meanwhile. */
async function collect(
  sorter: NameSorter,
  { prefix, after }: Required<ListOptions>,
  signal: AbortSignal,
): Promise<SortedNames> {
  const blocks: NameBlock[] = []
  const pages = sorter.pages()
  for (let page = pages.next(); !page.done && !signal.aborted; page = pages.next()) {
    if (blocks.length > 0) await setImmediate()
    blocks.push(...toBlocks(page.value))
  }
  return { prefix, after, blocks, isCut: sorter.isCut() }
}

/** Gives the first page of `sorted`. If `again` gives the others from what is kept, it holds no names itself. */
function takeSorted(sorted: SortedNames, held: HeldNames, again: TakePage | undefined): TakePage {
  let names: SortedNames | undefined = sorted
  held.release()
  if (!again) held.grow(memoryOf(sorted.blocks))
  return (rest) => {
    if (!names) return again?.(rest)
    const page = pageOf(names, rest)
    if (again) names = undefined
    else held.wait(() => (names = undefined))
    return page
  }
}
