import { type BlobStore, closestWord, SetupError } from '@holdfast/core'

interface Stores {
  readonly from: BlobStore
  readonly to: BlobStore
}

/**
 * Refuses a customer if neither store has a file of that name: a misspelt name would otherwise look like a finished copy.
 *
 * @throws SetupError that names the customer, and the one that was probably meant
 */
export async function refuseUnknownCustomer({ from, to }: Stores, customer: string): Promise<void> {
  if ((await hasFile(from, customer)) || (await hasFile(to, customer))) return
  const names: string[] = []
  for await (const name of from.customers()) names.push(name)
  const meant = closestWord(customer, names)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  throw new SetupError(`Neither store has a file of the customer "${customer}".${hint}`)
}

async function hasFile(store: BlobStore, customer: string): Promise<boolean> {
  for await (const _names of store.list(customer, { limit: 1 })) return true
  return false
}
