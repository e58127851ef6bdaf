import type { BlobStore, ListOptions } from '@holdfast/core'
import { expect } from 'chai'
import type { BlobStoreTest } from '../support/blob-store-harness.ts'
import { names } from '../support/expectations.ts'
import { chunks, gated } from '../support/sources.ts'
import { pattern } from '../support/pattern.ts'
import { listingWhileOverwritten } from './listing-while-overwritten.ts'

const inOrder = ['!', '10', '9', 'B', 'a', 'a!', 'a.b', 'ab', 'b', '\u00e9', '\uff5e', '\u{1f600}']

/** Names in the order of their UTF-8 bytes, each once, cut by prefix, after and limit, while blobs come and go. */
export function listing(test: BlobStoreTest): void {
  test('lists names in the order of their UTF-8 bytes', async ({ store }) => {
    await putAll(store, [...inOrder].reverse())
    expect(await names(store, 'alice')).to.deep.equal(inOrder)
  })

  for (const [title, options, expected] of cuts()) {
    test(`lists ${title}`, async ({ store }) => {
      await putAll(store, inOrder)
      expect(await names(store, 'alice', options)).to.deep.equal(expected)
    })
  }

  test('takes no character of a prefix for a pattern', async ({ store }) => {
    const odd = ['%', '%x', '*', '*x', '?', '[a]', '\\', '^a', '_', '_x', 'a', 'x']
    await putAll(store, odd)
    for (const prefix of odd) {
      const expected = odd.filter((name) => name.startsWith(prefix))
      expect(await names(store, 'alice', { prefix }), prefix).to.deep.equal(expected)
    }
  })

  test('compares a prefix code unit by code unit', async ({ store }) => {
    await putAll(store, ['cafe\u0301', 'caf\u00e9', 'Cafe'])
    expect(await names(store, 'alice', { prefix: 'cafe' })).to.deep.equal(['cafe\u0301'])
    expect(await names(store, 'alice', { prefix: 'caf\u00e9' })).to.deep.equal(['caf\u00e9'])
  })

  manyNames(test)
  whileThingsChange(test)
  listingWhileOverwritten(test)
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
    expect(await names(store, 'alice')).to.deep.equal(many)
    expect(await names(store, 'alice', { limit: 1050 })).to.deep.equal(many.slice(0, 1050))
    expect(await names(store, 'alice', { after: 'n1049' })).to.deep.equal(many.slice(1050))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1100, bytes: 1100 })
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
    for await (const name of store.list('alice')) {
      expect(name).to.equal('!')
      break
    }
    expect(await names(store, 'alice')).to.deep.equal(inOrder)
  })
}

function whileThingsChange(test: BlobStoreTest): void {
  test('gives every name that stays exactly once while others come and go', async ({ store }) => {
    const staying = Array.from({ length: 30 }, (_, index) => `stays ${10 + index}`)
    const going = staying.map((name) => `${name} not`)
    await putAll(store, [...staying, ...going])
    const found: string[] = []
    for await (const name of store.list('alice')) {
      found.push(name)
      const leaving = going.pop()
      if (leaving !== undefined) await store.delete({ customer: 'alice', name: leaving })
      await putAll(store, [
        `stays ${10 + found.length} new`,
        `came ${found.length}`,
        ...staying.slice(0, 2),
      ])
    }
    expect(found.filter((name) => staying.includes(name))).to.deep.equal(staying)
    expect(new Set(found).size, 'different names').to.equal(found.length)
  })

  test('shows no name whose blob is not published', async ({ store }) => {
    await putAll(store, ['a', 'c'])
    const { content, stalled, release } = gated(pattern(200_000))
    const put = store.put({ customer: 'alice', name: 'b' }, content)
    await stalled
    expect(await names(store, 'alice')).to.deep.equal(['a', 'c'])
    release()
    await put
    expect(await names(store, 'alice')).to.deep.equal(['a', 'b', 'c'])
  })
}

async function putAll(store: BlobStore, all: readonly string[]): Promise<void> {
  await Promise.all(all.map((name) => store.put({ customer: 'alice', name }, chunks(pattern(1)))))
}
