import { compareUtf8, type BlobInfo, type BlobStore, type ListOptions } from '@holdfast/core'
import { collect } from '../../src/support/expectations.ts'
import { broken, inPages, type BrokenStore } from './broken-store.ts'

/** What a flaw makes of all names, or of the details of all blobs, with `nameOf` each. */
type Change = <T>(entries: readonly T[], nameOf: (entry: T) => string) => readonly T[]

/** A flaw in `list`, another in `listDetails`: of what is listed, both give `change`. */
function both(flaw: string, test: string, change: Change, cut?: CutChange): BrokenStore[] {
  const cutOf = cut ?? ((options) => options)
  return [
    broken(flaw, test, (store) => ({
      async *list(customer, options = {}) {
        const names = (await collect(store.list(customer, cutOf(options)))).flat()
        yield* inPages(change(names, (name) => name))
      },
    })),
    broken(`${flaw}, with details`, test, (store) => ({
      async *listDetails(customer, options = {}) {
        const infos = (await collect(store.listDetails(customer, cutOf(options)))).flat()
        yield* inPages(change(infos, ({ name }) => name))
      },
    })),
  ]
}

type CutChange = (options: ListOptions) => ListOptions

const asIs: Change = (entries) => entries

const many = 'listing > lists 1100 names, whole and in pages'

/** A flaw in the pages of both lists. */
function paged(
  flaw: string,
  test: string,
  change: <T>(pages: AsyncIterable<readonly T[]>) => AsyncIterable<readonly T[]>,
): BrokenStore[] {
  return [
    broken(flaw, test, (store) => ({
      list: (customer, options) => change(store.list(customer, options)),
    })),
    broken(`${flaw}, with details`, test, (store) => ({
      listDetails: (customer, options) => change(store.listDetails(customer, options)),
    })),
  ]
}

const inOrder = 'listing > lists names in the order of their UTF-8 bytes'

/** Flaws in names, order, pages and cuts. */
const inBoth = [
  ...both(
    'hides what looks temporary',
    'listing > takes no character of a prefix for a pattern',
    (entries, nameOf) => entries.filter((entry) => !nameOf(entry).startsWith('%')),
  ),
  ...both('orders by UTF-16', inOrder, (entries, nameOf) =>
    [...entries].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
  ),
  ...both('ignores the limit', 'listing > lists one name', asIs, ({ prefix = '', after = '' }) => ({
    prefix,
    after,
  })),
  ...both(
    'ignores the prefix',
    'listing > lists names with a prefix',
    asIs,
    ({ prefix: _, ...rest }) => rest,
  ),
  ...both(
    'begins anew for every page',
    'listing > lists names after one that exists, without it',
    asIs,
    ({ after: _, ...rest }) => rest,
  ),
  ...both('stops after a thousand names', many, (entries) => entries.slice(0, 1000)),
  ...both(
    'counts pages instead of entries',
    'listing > lists as many names as the limit',
    asIs,
    ({ limit, ...rest }) => (limit === undefined ? rest : { ...rest, limit: limit * 1000 }),
  ),
  ...paged('gives an empty page', many, async function* (pages) {
    yield* pages
    yield []
  }),
  ...paged('gives all in one page', many, async function* (pages) {
    yield (await collect(pages)).flat()
  }),
  ...paged('gives the last page first', many, async function* (pages) {
    yield* (await collect(pages)).reverse()
  }),
  ...paged('repeats the last entry of a page', many, async function* (pages) {
    let last: readonly never[] = []
    for await (const page of pages as AsyncIterable<readonly never[]>) {
      yield [...last, ...page]
      last = page.slice(-1)
    }
  }),
  ...paged('gives the same array with other entries', many, async function* <
    T,
  >(pages: AsyncIterable<readonly T[]>) {
    const shared: T[] = []
    for await (const page of pages) {
      shared.splice(0, Infinity, ...page)
      yield shared
    }
  }),
]

const asStat = 'listing > gives of each blob what stat gives'

const changing =
  (change: (infos: readonly BlobInfo[]) => readonly BlobInfo[]) => (store: BlobStore) => ({
    async *listDetails(customer: string, options?: ListOptions) {
      for await (const page of store.listDetails(customer, options)) yield change(page)
    },
  })

/** Flaws in details alone. */
const inDetails = [
  broken(
    'gives the details of another blob',
    asStat,
    changing((infos) =>
      infos.map((info, at) => ({ ...(infos.at(at - 1) ?? info), name: info.name })),
    ),
  ),
  broken(
    'lists times with more digits than stat',
    asStat,
    changing((infos) =>
      infos.map((info) => ({ ...info, modifiedAt: new Date(info.modifiedAt.getTime() + 1) })),
    ),
  ),
  broken(
    'quotes the entity tags of lists',
    asStat,
    changing((infos) => infos.map((info) => ({ ...info, etag: `"${info.etag}"` }))),
  ),
  broken(
    'remembers the details that it has listed',
    'listing > gives the details of the blob that replaced another',
    (store) => {
      const seen = new Map<string, BlobInfo>()
      const remembered = (info: BlobInfo) => {
        const first = seen.get(info.name) ?? info
        seen.set(info.name, first)
        return first
      }
      return changing((infos) => infos.map(remembered))(store)
    },
  ),
  broken(
    'mixes the details of two blobs',
    'listing > gives the details of one blob under each name while it is replaced',
    (store) => {
      const earlier = new Map<string, BlobInfo>()
      return {
        async put(key, content, options) {
          const before = await store.stat(key)
          if (before) earlier.set(key.name, before)
          return store.put(key, content, options)
        },
        ...changing((infos) =>
          infos.map((info) => ({ ...info, size: earlier.get(info.name)?.size ?? info.size })),
        )(store),
      }
    },
  ),
  broken(
    'leaves out blobs that went while it looked at them, and gives fewer than the limit',
    'listing > fills a limit with details though blobs go meanwhile',
    (store) => ({
      async *listDetails(customer, options) {
        for await (const names of store.list(customer, options)) {
          await new Promise((resolve) => setImmediate(resolve))
          const infos = await Promise.all(names.map((name) => store.stat({ customer, name })))
          const found = infos.filter((info) => info !== undefined)
          if (found.length > 0) yield found
        }
      },
    }),
  ),
]

export const listing = [
  ...inBoth,
  ...inDetails,
  broken(
    'includes the name given as after',
    'listing > lists names after one that exists, without it',
    (store) => ({
      async *list(customer, { after = '', limit = Infinity, prefix = '' } = {}) {
        const names = (await collect(store.list(customer, { prefix }))).flat()
        yield* inPages(names.filter((name) => compareUtf8(name, after) >= 0).slice(0, limit))
      },
    }),
  ),
  broken(
    'hides names that look temporary',
    'naming > keeps a blob called ".tmp-1" of a customer called the same',
    (store) => ({
      async *list(customer, options) {
        const names = (await collect(store.list(customer, options))).flat()
        yield* inPages(names.filter((name) => !name.startsWith('.tmp')))
      },
    }),
  ),
]
