import { compareUtf8 } from '@holdfast/core'

/** A string that occurs in the first of two lists, in the second, or in both. */
export interface Merged {
  readonly value: string
  readonly inFirst: boolean
  readonly inSecond: boolean
}

/**
 * What occurs in either of two lists, each in ascending order of UTF-8 bytes, in that order. Asks for one string of
 * each at a time, and closes both however it ends.
 */
export async function* mergeSorted(
  first: AsyncIterable<string>,
  second: AsyncIterable<string>,
): AsyncGenerator<Merged> {
  const a = first[Symbol.asyncIterator]()
  const b = second[Symbol.asyncIterator]()
  try {
    let [x, y] = await Promise.all([next(a), next(b)])
    while (x !== undefined || y !== undefined) {
      const order = compareEnds(x, y)
      const inFirst = order <= 0
      const inSecond = order >= 0
      yield { value: (inFirst ? x : y) ?? '', inFirst, inSecond }
      ;[x, y] = await Promise.all([inFirst ? next(a) : x, inSecond ? next(b) : y])
    }
  } finally {
    await Promise.allSettled([a.return?.(), b.return?.()])
  }
}

async function next(iterator: AsyncIterator<string>): Promise<string | undefined> {
  const step = await iterator.next()
  return step.done === true ? undefined : step.value
}

/** The end of a list sorts after every string. */
function compareEnds(x: string | undefined, y: string | undefined): number {
  if (x === undefined) return 1
  if (y === undefined) return -1
  return compareUtf8(x, y)
}
