import { compareUtf8, type ListOptions } from '@holdfast/core'
import { namesOf, type NameBlock, pageLength } from './name-sorter.ts'

/** The names that begin with `prefix` and come after `after`, as far as they are held. */
export interface SortedNames {
  readonly prefix: string
  readonly after: string
  /** In order. */
  readonly blocks: readonly NameBlock[]
  /** Whether names that come after those in `blocks` are not held. */
  readonly isCut: boolean
}

export interface Page {
  readonly names: readonly string[]
  /** Whether these are all. */
  readonly isComplete: boolean
}

/** Gives the next page; `undefined` if the names were dropped. */
export type TakePage = (rest: Required<ListOptions>) => Page | undefined

/** Whether `sorted` has the first names of a list by these options, if there are any. */
export function covers(sorted: SortedNames, { prefix, after }: Required<ListOptions>): boolean {
  return prefix.startsWith(sorted.prefix) && compareUtf8(after, sorted.after) >= 0
}

/** The first page of a list by these options; `undefined` if `sorted` does not hold it. */
export function pageOf(
  { blocks, isCut }: SortedNames,
  { prefix, after, limit }: Required<ListOptions>,
): Page | undefined {
  const most = Math.min(limit, pageLength)
  const names: string[] = []
  const first = compareUtf8(prefix, after) > 0 ? prefix : after
  for (let at = Math.max(0, firstBlockAfter(blocks, first) - 1); at < blocks.length; at++) {
    const block = blocks[at]
    for (const name of block ? namesOf(block) : []) {
      if (compareUtf8(name, first) < 0 || name === after) continue
      // Names of one prefix stand together.
      if (!name.startsWith(prefix)) return { names, isComplete: true }
      if (names.length === most) return { names, isComplete: false }
      names.push(name)
    }
  }
  return names.length === 0 && isCut ? undefined : { names, isComplete: !isCut }
}

/** The index of the first of `blocks` that begins after `name`; their number if there is none. */
function firstBlockAfter(blocks: readonly NameBlock[], name: string): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareUtf8(blocks[middle]?.first ?? '', name) > 0) high = middle
    else low = middle + 1
  }
  return low
}
