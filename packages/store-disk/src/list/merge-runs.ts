import { compareUtf8, sortUtf8 } from '@holdfast/core'
import { namesOf, type NameBlock } from './name-blocks.ts'

/** A run from its next name on. */
interface Cursor {
  /** The names of a block, and which of them is the next. */
  names: readonly string[]
  next: number
  /** The blocks after that one. */
  readonly blocks: NameBlock[]
}

/** A page has so many blocks, as a rule: the names of all runs before one that is a block's first. */
const blocksPerPage = 8

/**
 * Merges sorted `runs`, which it empties, into one sorted sequence without duplicates, in pages. What the runs have before a certain name is
 * sorted together: the engine does that faster than the names can be compared one by one. With n runs, no page has more
 * names than n + {@link blocksPerPage} blocks.
 */
export function* mergeRuns(runs: readonly NameBlock[][]): Generator<string[]> {
  const cursors = runs.map((blocks): Cursor => ({ names: [], next: 0, blocks }))
  const firsts = sortUtf8(runs.flatMap((blocks) => blocks.map(({ first }) => first)))
  let at = 0
  do {
    at += blocksPerPage
    const page: string[] = []
    for (const cursor of cursors) takeBefore(firsts[at], cursor, page)
    // If all of these blocks begin with one name, there is nothing before it.
    if (page.length > 0) yield withoutRepeats(sortUtf8(page))
  } while (at < firsts.length)
}

/** Moves the names before `end`, or all if there is none, from `cursor` to `page`. */
function takeBefore(end: string | undefined, cursor: Cursor, page: string[]): void {
  const isBefore = (name: string) => end === undefined || compareUtf8(name, end) < 0
  while (true) {
    for (; cursor.next < cursor.names.length; cursor.next++) {
      const name = cursor.names[cursor.next] ?? ''
      if (!isBefore(name)) return
      page.push(name)
    }
    const [block] = cursor.blocks
    if (!block || !isBefore(block.first)) return
    cursor.names = namesOf(block)
    cursor.next = 0
    cursor.blocks.shift()
  }
}

/** `names`, which are sorted, each once. */
export function withoutRepeats(names: readonly string[]): string[] {
  return names.filter((name, at) => name !== names[at - 1])
}
