import type { BlobKey, BlobStore } from '@holdfast/core'
import { mergeByName } from './merge-by-name.ts'

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

/**
 * The files of all customers of both stores, or of `customer` alone, in order of customers and names. Never holds more names than the
 * stores' own lists do. Yields an {@link UnlistedCustomer} for a list that fails, and continues with the next customer.
 */
export async function* walkFiles(
  from: BlobStore,
  to: BlobStore,
  customer?: string,
): AsyncGenerator<ListedFile | UnlistedCustomer> {
  if (customer !== undefined) {
    yield* filesOf(from, to, customer)
    return
  }
  const customers = [named(from.customers()), named(to.customers())]
  for await (const { name } of mergeByName(customers)) yield* filesOf(from, to, name)
}

async function* filesOf(
  from: BlobStore,
  to: BlobStore,
  customer: string,
): AsyncGenerator<ListedFile | UnlistedCustomer> {
  try {
    const lists = [listOf(from, customer), listOf(to, customer)]
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

async function* named(names: AsyncIterable<string>): AsyncGenerator<{ name: string }> {
  for await (const name of names) yield { name }
}
