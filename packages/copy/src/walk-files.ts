import type { BlobKey, BlobStore } from '@holdfast/core'
import { mergeSorted } from './merge-sorted.ts'

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
