import { execFileSync } from 'node:child_process'
import { lstatSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compareUtf8, type ListOptions } from '@holdfast/core'
import { nastyNames } from '@holdfast/contract'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import { createLayout } from '../../src/directory/layout.ts'
import {
  createUnchangedCache,
  type UnchangedCacheOptions,
} from '../../src/files/unchanged-cache.ts'
import { createNameCache, createNameBudget, listNames } from '../../src/list/list-names.ts'
import type { SortedNames } from '../../src/list/sorted-names.ts'
import { createPlainWalk, type Blobs } from '../../src/list/walk-blobs.ts'
import { collect } from '../collect.ts'

/** What has just been changed is kept at once. */
const atOnce = { settlesAfterMs: -1_000_000 }

/**
 * A customer with `names`, whose lists are kept; counts the walks through the directory. It is said to have also the names
 * of `more`, since files take long to make.
 */
async function openLists(
  options: UnchangedCacheOptions,
  names: readonly string[],
  more: readonly string[] = [],
) {
  const place = await makeTemporaryDirectory()
  const layout = createLayout(place.path, 'plain')
  const directory = layout.customerDirectory('alice')
  await mkdir(directory)
  const add = (name: string) => writeFile(join(directory, name), '')
  for (const name of names) writeFileSync(join(directory, name), '')
  const statsOf = async (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })
  const kept = createNameCache(directory, createUnchangedCache<SortedNames>(options), statsOf)
  const budget = createNameBudget()
  const walkBlobs = createPlainWalk(layout)
  const state = { walks: 0, atEnd: async () => {} }
  const walk = <T>(use: (blobs: Blobs) => Promise<T>) => {
    state.walks++
    return walkBlobs('alice', async (blobs) => {
      const found = await use(andMore(blobs, more))
      await state.atEnd()
      return found
    })
  }
  const open = (cut?: ListOptions) => listNames({ walk, budget, kept }, cut)
  return {
    ...{ place: place.path, directory, state, budget, add, open },
    list: async (cut?: ListOptions) => (await collect(open(cut))).flat(),
    /** The names of all pages of so many names. */
    pages: async (limit: number, prefix = '') => {
      const all: string[] = []
      while (true) {
        const page = (await collect(open({ limit, after: all.at(-1) ?? '', prefix }))).flat()
        if (page.length === 0) return all
        all.push(...page)
      }
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}

async function* andMore(blobs: Blobs, more: readonly string[]): Blobs {
  yield more
  yield* blobs
}

const many = Array.from({ length: 5000 }, (_, index) => `name ${index}`).sort()

/** Changes the directory so late that its times tell; on a kernel whose clock has ticks they are the same meanwhile. */
async function changed(directory: string, change: () => Promise<unknown>): Promise<void> {
  const before = lstatSync(directory, { bigint: true }).ctimeNs
  await change()
  const trial = join(directory, 'trial \u0001')
  while (lstatSync(directory, { bigint: true, throwIfNoEntry: false })?.ctimeNs === before) {
    await writeFile(trial, '')
    await rm(trial)
  }
}

describe('listNames, where names are kept until the directory changes', () => {
  it('reads the directory once for all pages, from the first on', async () => {
    await using lists = await openLists(atOnce, [], many)
    expect(await lists.pages(100)).to.deep.equal(many)
    expect(await lists.list()).to.deep.equal(many)
    expect(lists.state.walks).to.equal(1)
    expect(lists.budget.held()).to.equal(0)
  })

  it('gives the names that a list without it would give, whatever is asked for', async () => {
    const names = [...nastyNames, 'a', 'aa', 'ab', 'b', '\uff5e', '\u{1f600}', '\u{1f601}x']
    await using lists = await openLists(atOnce, names)
    const sorted = [...new Set(names)].sort(compareUtf8)
    const part = fc.constantFrom('', ...names, 'a0', '\ud83d', '\u{1f600}\u0001')
    const limit = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(Infinity))
    await fc.assert(
      fc.asyncProperty(part, part, limit, async (prefix, after, limit) => {
        const expected = sorted
          .filter((name) => name.startsWith(prefix) && compareUtf8(name, after) > 0)
          .slice(0, limit)
        expect(await lists.list({ prefix, after, limit })).to.deep.equal(expected)
      }),
      { numRuns: 500 },
    )
  })

  it('gives what is there after every change, however it was made', async () => {
    await using lists = await openLists(atOnce, ['a', 'b', 'c'])
    const { directory, place } = lists
    const path = (name: string) => join(directory, name)
    const touch = async () => {
      const { atime, mtime } = statSync(directory)
      await writeFile(path('f'), '')
      utimesSync(directory, atime, mtime)
    }
    const swap = async () => {
      await mkdir(join(place, 'other'))
      await writeFile(join(place, 'other', 'z'), '')
      await rename(directory, join(place, 'before'))
      await rename(join(place, 'other'), directory)
    }
    const swapBack = async () => {
      await rename(directory, join(place, 'other'))
      await rename(join(place, 'before'), directory)
    }
    const changes: readonly (readonly [string, () => Promise<unknown>, readonly string[]])[] = [
      ['added', () => lists.add('d'), ['a', 'b', 'c', 'd']],
      ['deleted', () => rm(path('b')), ['a', 'c', 'd']],
      ['renamed', () => rename(path('d'), path('e')), ['a', 'c', 'e']],
      ['replaced by a rename', () => rename(path('e'), path('a')), ['a', 'c']],
      ['by another program', async () => execFileSync('touch', [path('d')]), ['a', 'c', 'd']],
      ['added, the times set back', touch, ['a', 'c', 'd', 'f']],
      ['made a link', () => rm(path('f')).then(() => symlink('a', path('f'))), ['a', 'c', 'd']],
      ['another directory', swap, ['z']],
      ['the first directory again', swapBack, ['a', 'c', 'd']],
      ['all gone', () => rename(directory, join(place, 'gone')), []],
      ['made anew', () => mkdir(directory).then(() => lists.add('y')), ['y']],
    ]
    for (const [title, change, expected] of changes) {
      const isThere = (await readdir(place)).includes('alice')
      await (isThere && title !== 'all gone' ? changed(directory, change) : change())
      expect(await lists.list(), title).to.deep.equal(expected)
      expect(await lists.list({ limit: 2 }), `${title}, a page`).to.deep.equal(expected.slice(0, 2))
    }
  })

  it('keeps nothing of a directory that has changed a moment ago', async () => {
    await using lists = await openLists({ settlesAfterMs: 60_000 }, ['a', 'b'])
    for (let round = 1; round <= 3; round++) {
      expect(await lists.list({ limit: 1 })).to.deep.equal(['a'])
      expect(lists.state.walks).to.equal(round)
    }
  })

  it('keeps nothing of a directory that changes while it is read', async () => {
    await using lists = await openLists(atOnce, ['a', 'c'])
    lists.state.atEnd = () => changed(lists.directory, () => lists.add('b'))
    expect(await lists.list()).to.deep.equal(['a', 'c'])
    lists.state.atEnd = async () => {}
    expect(await lists.list()).to.deep.equal(['a', 'b', 'c'])
    expect(lists.state.walks).to.equal(2)
  })

  it('keeps a long list only if it is read in pages', async () => {
    await using lists = await openLists(atOnce, [], many)
    for (let round = 1; round <= 2; round++) {
      expect(await lists.list()).to.deep.equal(many)
      expect(lists.state.walks).to.equal(round)
    }
    expect(await lists.list({ limit: 10_000 })).to.deep.equal(many)
    expect(await lists.list({ limit: 10 })).to.deep.equal(many.slice(0, 10))
    expect(await lists.list({ limit: 10, after: 'name 1' })).to.have.length(10)
    expect(lists.state.walks).to.equal(4)
  })

  it('keeps as many names as it may, and reads the directory again for those after them', async () => {
    await using lists = await openLists({ ...atOnce, cacheBytes: 60_000 }, [], many)
    expect(await lists.pages(50)).to.deep.equal(many)
    expect(lists.state.walks).to.be.within(2, 20)
  })

  it('finds the rest anew for a reader whose names have given way to others', async () => {
    await using lists = await openLists(atOnce, [], many)
    await lists.list({ limit: 1 })
    const slow = lists.open()[Symbol.asyncIterator]()
    const found: string[] = []
    const first = await slow.next()
    if (!first.done) found.push(...first.value)
    expect(lists.state.walks).to.equal(1)
    // These take the place of all names.
    await changed(lists.directory, () => lists.add('another'))
    await lists.list({ limit: 1 })
    for (let page = await slow.next(); !page.done; page = await slow.next()) {
      found.push(...page.value)
    }
    expect(found).to.deep.equal(many)
    expect(lists.state.walks).to.equal(3)
    expect(lists.budget.held()).to.equal(0)
  })
})
