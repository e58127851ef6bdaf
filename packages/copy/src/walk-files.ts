import { type BlobKey, type BlobStore, compareUtf8 } from '@holdfast/core'

/** A file in the list of one of the two stores, or of both. */
export interface FoundFile {
  readonly key: BlobKey
  readonly inSource: boolean
  readonly inTarget: boolean
}

/** A customer whose files cannot be listed, or not to the end. */
export interface UnlistedCustomer {
  readonly customer: string
  readonly error: unknown
}

/**
 * The files of all customers of both stores, or of `customer` alone, in order of customers and names. Never holds more
 * names than the stores' own lists do. A list that fails is yielded as an {@link UnlistedCustomer}, and the next customer follows.
 */
export async function* walkFiles(
  from: BlobStore,
  to: BlobStore,
  customer?: string,
): AsyncGenerator<FoundFile | UnlistedCustomer> {
  if (customer !== undefined) {
    yield* filesOf(from, to, customer)
    return
  }
  for await (const { value } of mergeSorted(from.customers(), to.customers())) {
    yield* filesOf(from, to, value)
  }
}

async function* filesOf(
  from: BlobStore,
  to: BlobStore,
  customer: string,
): AsyncGenerator<FoundFile | UnlistedCustomer> {
  try {
    for await (const merged of mergeSorted(namesOf(from, customer), namesOf(to, customer))) {
      const { value: name, inFirst: inSource, inSecond: inTarget } = merged
      yield { key: { customer, name }, inSource, inTarget }
    }
  } catch (error) {
    yield { customer, error }
  }
}

async function* namesOf(store: BlobStore, customer: string): AsyncGenerator<string> {
  for await (const names of store.list(customer)) yield* names
}

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
