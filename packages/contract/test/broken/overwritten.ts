import { setImmediate } from 'node:timers/promises'
import type { BlobStore } from '@holdfast/core'
import { broken, inPages, type Methods } from './broken-store.ts'

/** A flaw in what is told of blobs that are replaced while the names are walked through, which takes some turns. */
const walking =
  (tell: (names: string[], replaced: ReadonlySet<string>) => readonly string[]) =>
  (store: BlobStore): Methods => {
    const walks = new Set<Set<string>>()
    const walk = async (customer: string) => {
      const replaced = new Set<string>()
      walks.add(replaced)
      const names: string[] = []
      for await (const page of store.list(customer)) names.push(...page)
      for (let count = 0; count < 20; count++) await setImmediate()
      walks.delete(replaced)
      return tell(names, replaced)
    }
    return {
      async put(key, content, options) {
        const info = await store.put(key, content, options)
        for (const replaced of walks) replaced.add(key.name)
        return info
      },
      async *list(customer, { after = '', limit = Infinity } = {}) {
        const names = (await walk(customer)).filter((name) => name > after)
        yield* inPages(names.slice(0, limit))
      },
      async usage(customer) {
        const { length } = await walk(customer)
        return { blobs: length, bytes: length }
      },
    }
  }

/** `flaw` in lists with details alone. */
const detailed =
  (flaw: typeof passingBy) =>
  (store: BlobStore): Methods => {
    const { put, list } = { ...store, ...flaw(store) }
    return {
      put,
      async *listDetails(customer) {
        for await (const names of list(customer)) {
          const infos = await Promise.all(names.map((name) => store.stat({ customer, name })))
          yield infos.filter((info) => info !== undefined)
        }
      },
    }
  }

/** `flaw` in pages alone. */
const paged =
  (flaw: typeof passingBy) =>
  (store: BlobStore): Methods => {
    const { put, list } = { ...store, ...flaw(store) }
    return {
      put,
      list: (customer, options) =>
        options?.limit === undefined ? store.list(customer, options) : list(customer, options),
    }
  }

/** `flaw` in counts alone. */
const counting =
  (flaw: typeof passingBy) =>
  (store: BlobStore): Methods => {
    const { put, usage } = { ...store, ...flaw(store) }
    return { put, usage }
  }

const passingBy = walking((names, replaced) => names.filter((name) => !replaced.has(name)))
const repeating = walking((names, replaced) =>
  names.flatMap((name) => (replaced.has(name) ? [name, name] : name)),
)

const test = 'listing > gives each of 1100 names exactly once while they are overwritten'

/** Flaws that come to light while blobs are replaced. */
export const overwritten = [
  broken('passes by names that are replaced meanwhile', test, passingBy),
  broken('gives names twice that are replaced meanwhile', test, repeating),
  broken('passes by blobs with details that are replaced meanwhile', test, detailed(passingBy)),
  broken('gives blobs with details twice that are replaced meanwhile', test, detailed(repeating)),
  broken('passes by names of a page that are replaced meanwhile', test, paged(passingBy)),
  broken('does not count blobs that are replaced meanwhile', test, counting(passingBy)),
  broken('counts blobs twice that are replaced meanwhile', test, counting(repeating)),
]
