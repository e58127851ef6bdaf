import { setImmediate } from 'node:timers/promises'
import type { BlobStore, ListOptions, BlobInfo } from '@holdfast/core'
import { expect } from 'chai'
import { chunks, gated, generated, pattern } from '../support/content.ts'
import { collect, details, names } from '../support/expectations.ts'
import { nastyNames } from '../support/nasty-names.ts'
import type { BlobStoreTest } from '../support/suite.ts'

const inOrder = ['!', '10', '9', 'B', 'a', 'a!', 'a.b', 'ab', 'b', '\u00e9', '\uff5e', '\u{1f600}']

/** The longest page that the port allows. */
const longestPage = 1024

/**
 * Lists names, with details or without, each once, in the order of their UTF-8 bytes, in pages, selected by prefix, after and limit, while
 * blobs are added and removed.
 */
export function listing(test: BlobStoreTest): void {
  test('lists names in the order of their UTF-8 bytes', async ({ store }) => {
    await putAll(store, [...inOrder].reverse())
    await expectListed(store, {}, inOrder)
  })

  for (const [title, options, expected] of cuts()) {
    test(`lists ${title}`, async ({ store }) => {
      await putAll(store, inOrder)
      await expectListed(store, options, expected)
    })
  }

  test('takes no character of a prefix for a pattern', async ({ store }) => {
    const odd = ['%', '%x', '*', '*x', '?', '[a]', '\\', '^a', '_', '_x', 'a', 'x']
    await putAll(store, odd)
    for (const prefix of odd) {
      const expected = odd.filter((name) => name.startsWith(prefix))
      await expectListed(store, { prefix }, expected)
    }
  })

  test('compares a prefix code unit by code unit', async ({ store }) => {
    await putAll(store, ['cafe\u0301', 'caf\u00e9', 'Cafe'])
    await expectListed(store, { prefix: 'cafe' }, ['cafe\u0301'])
    await expectListed(store, { prefix: 'caf\u00e9' }, ['caf\u00e9'])
  })

  manyNames(test)
  whileThingsChange(test)
  listingDetails(test)
  listingWhileOverwritten(test)
}

/** Passes if both lists have the names `expected`. */
async function expectListed(
  store: BlobStore,
  options: ListOptions,
  expected: readonly string[],
): Promise<void> {
  const what = JSON.stringify(options)
  expect(await names(store, 'alice', options), `list of ${what}`).to.deep.equal(expected)
  const detailed = (await details(store, 'alice', options)).map(({ name }) => name)
  expect(detailed, `listDetails of ${what}`).to.deep.equal(expected)
}

function cuts(): readonly (readonly [string, ListOptions, readonly string[]])[] {
  return [
    ['names with a prefix', { prefix: 'a' }, ['a', 'a!', 'a.b', 'ab']],
    ['the name that is the prefix', { prefix: 'ab' }, ['ab']],
    ['names with a prefix beyond the basic plane', { prefix: '\u{1f600}' }, ['\u{1f600}']],
    ['everything for an empty prefix', { prefix: '' }, inOrder],
    ['nothing for a prefix of no name', { prefix: 'abc' }, []],
    ['nothing for prefixes that no name can have', { prefix: '../' }, []],
    ['nothing for a prefix longer than names get', { prefix: 'a'.repeat(2000) }, []],
    ['names after one that exists, without it', { after: 'ab' }, inOrder.slice(8)],
    ['names after one that does not exist', { after: 'a.' }, inOrder.slice(6)],
    ['names after one that no name can be', { after: 'a/../b' }, inOrder.slice(7)],
    ['names after one longer than names get', { after: 'a'.repeat(2000) }, inOrder.slice(7)],
    ['names after U+FF5E, by bytes', { after: '\uff5e' }, ['\u{1f600}']],
    ['nothing after the last', { after: '\u{1f600}' }, []],
    ['everything after the empty string', { after: '' }, inOrder],
    ['one name', { limit: 1 }, ['!']],
    ['as many names as the limit', { limit: 5 }, inOrder.slice(0, 5)],
    ['everything for a limit above the number', { limit: 1000 }, inOrder],
    ['a page within a prefix', { prefix: 'a', after: 'a', limit: 2 }, ['a!', 'a.b']],
    [
      'a prefix from its start when after lies before',
      { prefix: 'a', after: '9' },
      ['a', 'a!', 'a.b', 'ab'],
    ],
    ['nothing of a prefix when after lies behind', { prefix: 'a', after: 'b' }, []],
  ]
}

function manyNames(test: BlobStoreTest): void {
  const many = Array.from({ length: 1100 }, (_, index) => `n${String(index).padStart(4, '0')}`)

  test('lists 1100 names, whole and in pages', async ({ store }) => {
    for (let at = 0; at < many.length; at += 20) await putAll(store, many.slice(at, at + 20))
    await expectListed(store, {}, many)
    await expectListed(store, { limit: 1050 }, many.slice(0, 1050))
    await expectListed(store, { after: 'n1049' }, many.slice(1050))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1100, bytes: 1100 })
    await expectPages(store.list('alice'))
    await expectPages(store.listDetails('alice'))
  })

  test('gives every name once when paged through', async ({ store }) => {
    await putAll(store, inOrder)
    const found: string[] = []
    let page: string[]
    do {
      page = await names(store, 'alice', { limit: 5, after: found.at(-1) ?? '' })
      found.push(...page)
    } while (page.length > 0)
    expect(found).to.deep.equal(inOrder)
  })

  test('stops when the reader stops', async ({ store }) => {
    await putAll(store, inOrder)
    for await (const page of store.list('alice')) {
      expect(page[0]).to.equal('!')
      break
    }
    for await (const page of store.listDetails('alice')) {
      expect(page[0]?.name).to.equal('!')
      break
    }
    await expectListed(store, {}, inOrder)
  })
}

/** Passes if each page has an allowed length, and is unchanged at the end. */
async function expectPages(pages: AsyncIterable<readonly unknown[]>): Promise<void> {
  const copies: unknown[] = []
  const copied = async function* () {
    for await (const page of pages) {
      expect(page.length, 'entries of a page').to.be.within(1, longestPage)
      copies.push(structuredClone(page))
      yield page
    }
  }
  expect(await collect(copied()), 'pages in the end').to.deep.equal(copies)
}

const bothLists: readonly (readonly [
  title: string,
  count: number,
  list: (store: BlobStore) => AsyncIterable<readonly string[]>,
])[] = [
  ['', 30, (store) => store.list('alice')],
  [', with details', 10, (store) => namesOfDetails(store)],
]

async function* namesOfDetails(store: BlobStore) {
  for await (const page of store.listDetails('alice')) yield page.map(({ name }) => name)
}

function whileThingsChange(test: BlobStoreTest): void {
  for (const [title, count, list] of bothLists) {
    test(`gives every name that stays exactly once while others come and go${title}`, async ({
      store,
    }) => {
      const staying = Array.from({ length: count }, (_, index) => `stays ${10 + index}`)
      const going = staying.map((name) => `${name} not`)
      await putAll(store, [...staying, ...going])
      const found: string[] = []
      let changes = 0
      for await (const page of list(store)) {
        for (const name of page) {
          found.push(name)
          const leaving = going.pop()
          if (leaving !== undefined) await store.delete({ customer: 'alice', name: leaving })
          changes++
          await putAll(store, [`stays ${10 + changes} new`, `came ${changes}`])
          await putAll(store, staying.slice(0, 2))
        }
      }
      expect(found.filter((name) => staying.includes(name))).to.deep.equal(staying)
      expect(new Set(found).size, 'different names').to.equal(found.length)
    })
  }

  test('shows no name whose blob is not published', async ({ store }) => {
    await putAll(store, ['a', 'c'])
    const { content, stalled, release } = gated(pattern(200_000))
    const put = store.put({ customer: 'alice', name: 'b' }, content)
    await stalled
    await expectListed(store, {}, ['a', 'c'])
    release()
    await put
    await expectListed(store, {}, ['a', 'b', 'c'])
  })
}

async function putAll(store: BlobStore, all: readonly string[]): Promise<void> {
  await Promise.all(all.map((name) => store.put({ customer: 'alice', name }, chunks(pattern(1)))))
}

/** Lists with details describe each blob as `stat` does; while it is replaced, they describe one version. */
function listingDetails(test: BlobStoreTest): void {
  test('gives of each blob what stat gives', async ({ store }) => {
    const names = nastyNames.filter((_, index) => index % 5 === 2)
    await Promise.all(names.map((name, index) => put(store, name, index * 7)))
    const listed = await details(store, 'alice')
    expect(listed.length, 'entries').to.equal(names.length)
    for (const info of listed) {
      expect(info, info.name).to.deep.equal(
        await store.stat({ customer: 'alice', name: info.name }),
      )
    }
  })

  test('gives the details of the blob that replaced another', async ({ store }) => {
    await put(store, 'a', 1)
    await details(store, 'alice')
    await put(store, 'a', 200_000)
    expect(await details(store, 'alice')).to.deep.equal([
      await store.stat({ customer: 'alice', name: 'a' }),
    ])
  })

  test('gives the details of one blob under each name while it is replaced', async ({ store }) => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`)
    const known = new Map<string, BlobInfo[]>()
    const replace = async (name: string, size: number) => {
      const info = await put(store, name, size)
      known.set(name, [...(known.get(name) ?? []), info])
    }
    await Promise.all(names.map((name) => replace(name, 1)))
    const state = { isOver: false }
    const replaceAll = async (name: string) => {
      for (let size = 2; !state.isOver; size++) {
        await replace(name, size)
        await setImmediate()
      }
    }
    const replacing = names.map(replaceAll)
    const lists: BlobInfo[][] = []
    try {
      for (let round = 0; round < 20; round++) lists.push(await details(store, 'alice'))
    } finally {
      state.isOver = true
      await Promise.all(replacing)
    }
    for (const listed of lists) {
      expect(listed.map(({ name }) => name)).to.deep.equal(names)
      for (const info of listed) expect(info).to.deep.be.oneOf(known.get(info.name) ?? [])
    }
  })

  test('fills a limit with details though blobs go meanwhile', async ({ store }) => {
    const staying = Array.from({ length: 40 }, (_, index) => `b${10 + index}`)
    await Promise.all(staying.map((name) => put(store, name, 1)))
    const state = { isOver: false }
    const comeAndGo = async (first: number) => {
      for (let at = first; !state.isOver; at++) {
        const name = `a${at % 40}`
        await put(store, name, 1)
        await setImmediate()
        await store.delete({ customer: 'alice', name })
        await setImmediate()
      }
    }
    const changing = [0, 10, 20, 30].map(comeAndGo)
    try {
      for (let round = 0; round < 20; round++) {
        const listed = await details(store, 'alice', { limit: 20 })
        expect(listed.length, 'entries').to.equal(20)
      }
    } finally {
      state.isOver = true
      await Promise.all(changing)
    }
  })
}

async function put(store: BlobStore, name: string, size: number): Promise<BlobInfo> {
  return store.put({ customer: 'alice', name }, generated(size))
}

/** Lists and counts of blobs that exist throughout and are replaced continuously: a store may find them at another position then. */
function listingWhileOverwritten(test: BlobStoreTest): void {
  // One test, since it takes longer to store so many blobs than to list them.
  test('gives each of 1100 names exactly once while they are overwritten', async (harness) => {
    const { store } = harness
    await putManyNames(store)
    const all = { blobs: rewrittenNames.length, bytes: rewrittenNames.length }
    await whileOverwriting([store, await harness.openAgain()], async () => {
      for (let round = 1; round <= 7; round++) {
        expectEachOnce(await names(store, 'alice'), rewrittenNames, `list ${round}`)
      }
      for (let round = 1; round <= 3; round++) {
        const listed = (await details(store, 'alice')).map(({ name }) => name)
        expectEachOnce(listed, rewrittenNames, `list ${round} with details`)
      }
      for (let at = 0; at < rewrittenNames.length; at += 200) {
        const page = await names(store, 'alice', {
          limit: 200,
          after: rewrittenNames[at - 1] ?? '',
        })
        expectEachOnce(page, rewrittenNames.slice(at, at + 200), `the page from name ${at}`)
      }
      for (let round = 1; round <= 5; round++) {
        expect(await store.usage('alice'), `count ${round}`).to.deep.equal(all)
      }
    })
  })
}

/** Compares counts, since a list of all differences would be long. */
function expectEachOnce(found: readonly string[], expected: readonly string[], what: string): void {
  const different = new Set(found)
  const missing = expected.filter((name) => !different.has(name))
  expect(missing.length, `names missing in ${what}, such as ${missing[0]}`).to.equal(0)
  expect(found.length - different.size, `names repeated in ${what}`).to.equal(0)
  expect(found.join('\n') === expected.join('\n'), `${what} is in order`).to.equal(true)
}

/** The number of simultaneous puts in each store. */
const concurrency = 8

/** Consecutive puts use distant names, so that names before and after each position of a listing are replaced. */
const stride = 619

/** More than a page of S3, and so many that to read their directory takes several system calls. */
const rewrittenNames = Array.from(
  { length: 1100 },
  (_, index) => `n${String(index).padStart(4, '0')}-${'x'.repeat(100)}`,
)

/** Puts one byte under each of {@link rewrittenNames}. */
async function putManyNames(store: BlobStore): Promise<void> {
  for (let at = 0; at < rewrittenNames.length; at += 50) {
    await Promise.all(rewrittenNames.slice(at, at + 50).map((name) => putByte(store, name)))
  }
}

/**
 * Settles as `body` does. Meanwhile all of `stores`, which share their blobs, replace blobs of {@link rewrittenNames} by others of the
 * same size without a pause.
 */
async function whileOverwriting<T>(
  stores: readonly BlobStore[],
  body: () => Promise<T>,
): Promise<T> {
  const state = { isOver: false }
  const overwrite = async (store: BlobStore, first: number) => {
    for (let at = first; !state.isOver; at += stride) {
      await putByte(store, rewrittenNames[at % rewrittenNames.length] ?? '')
      await setImmediate()
    }
  }
  const loops = stores.flatMap((store, number) =>
    Array.from({ length: concurrency }, (_, loop) =>
      overwrite(store, (number * concurrency + loop) * 101),
    ),
  )
  try {
    return await body()
  } finally {
    state.isOver = true
    await Promise.all(loops)
  }
}

async function putByte(store: BlobStore, name: string): Promise<void> {
  await store.put({ customer: 'alice', name }, chunks(Uint8Array.of(1)))
}
