import { compareUtf8, type BlobKey, type BlobStore } from '@holdfast/core'

/** A file in one of the two stores, or in both. */
export interface ListedFile {
  readonly key: BlobKey
  readonly inSource: boolean
  readonly inTarget: boolean
}

/** A customer whose list of files failed or broke off. */
export interface UnlistedCustomer {
  readonly customer: string
  readonly error: unknown
}

export interface Walk {
  readonly from: BlobStore
  readonly to: BlobStore
  /** Default: all customers of both stores. */
  readonly customer?: string | undefined
  /** Whether to walk the deleted files that the source keeps, too; they may be in neither store. */
  readonly withDeleted: boolean
}

/**
 * The files of the customers, in order of customers and names. Never holds more names than the stores' own lists do, and the names of the
 * customers with deleted files. Yields an {@link UnlistedCustomer} for a list that fails, and continues with the next customer.
 */
export async function* walkFiles(walk: Walk): AsyncGenerator<ListedFile | UnlistedCustomer> {
  const { from, to, customer, withDeleted } = walk
  if (customer !== undefined) {
    yield* filesOf(walk, customer)
    return
  }
  const customers = [named(from.customers()), named(to.customers())]
  if (withDeleted) customers.push(named(inOrder(from.history?.customers())))
  for await (const { name } of mergeByName(customers)) yield* filesOf(walk, name)
}

async function* filesOf(
  { from, to, withDeleted }: Walk,
  customer: string,
): AsyncGenerator<ListedFile | UnlistedCustomer> {
  try {
    const lists = [listOf(from, customer), listOf(to, customer)]
    if (withDeleted) lists.push(deletedOf(from, customer))
    for await (const { name, found } of mergeByName(lists)) {
      const [inSource, inTarget] = found
      yield { key: { customer, name }, inSource: !!inSource, inTarget: !!inTarget }
    }
  } catch (error) {
    yield { customer, error }
  }
}

async function* listOf(store: BlobStore, customer: string): AsyncGenerator<{ name: string }> {
  for await (const names of store.list(customer)) for (const name of names) yield { name }
}

async function* deletedOf(
  { history }: BlobStore,
  customer: string,
): AsyncGenerator<{ name: string }> {
  for await (const page of history?.deleted(customer) ?? [])
    for (const { name } of page) yield { name }
}

async function* inOrder(names: AsyncIterable<string> | undefined): AsyncGenerator<string> {
  const all: string[] = []
  for await (const name of names ?? []) all.push(name)
  yield* all.sort(compareUtf8)
}

async function* named(names: AsyncIterable<string>): AsyncGenerator<{ name: string }> {
  for await (const name of names) yield { name }
}

interface Named {
  readonly name: string
}

/** The entries of several lists with one name; `undefined` for a list without it. */
export interface MergedName<Lists extends readonly Named[]> {
  readonly name: string
  readonly found: { readonly [List in keyof Lists]: Lists[List] | undefined }
}

type Iterables<Lists extends readonly Named[]> = {
  readonly [List in keyof Lists]: AsyncIterable<Lists[List]>
}

/**
 * Merges lists that are each in ascending order of the UTF-8 bytes of their names. If a list repeats a name, so does the result. Holds one
 * entry of each list, and closes all lists however it ends.
 */
export async function* mergeByName<const Lists extends readonly Named[]>(
  lists: Iterables<Lists>,
): AsyncGenerator<MergedName<Lists>, void> {
  const iterators = lists.map((list) => list[Symbol.asyncIterator]())
  const next = async (iterator: AsyncIterator<Named>): Promise<Named | undefined> => {
    const step = await iterator.next()
    return step.done === true ? undefined : step.value
  }
  try {
    let heads = await Promise.all(iterators.map(next))
    while (true) {
      const name = leastName(heads)
      if (name === undefined) return
      const found = heads.map((head) => (head?.name === name ? head : undefined))
      yield { name, found: found as MergedName<Lists>['found'] }
      heads = await Promise.all(
        iterators.map(async (iterator, at) => (found[at] ? next(iterator) : heads[at])),
      )
    }
  } finally {
    await Promise.allSettled(iterators.map(async (iterator) => iterator.return?.()))
  }
}

function leastName(heads: readonly (Named | undefined)[]): string | undefined {
  let least: string | undefined
  for (const head of heads) {
    if (head && (least === undefined || compareUtf8(head.name, least) < 0)) least = head.name
  }
  return least
}
