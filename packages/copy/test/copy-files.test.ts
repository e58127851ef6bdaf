import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { contentOf, putText } from '@holdfast/testing'
import { expect } from 'chai'
import { EmptySourceError } from '../src/copy-files.ts'
import type { CopyProgress } from '../src/copy-progress.ts'
import { copyFiles } from './copy-with-sha256.ts'
import { watchedStore } from './watched-store.ts'

const minutes = 60_000
const nothing = { files: 0, bytes: 0 }

describe('copyFiles', () => {
  // Milliseconds since 1970, by the clock of both stores.
  let time = 0
  let from: BlobStore
  let to: BlobStore
  beforeEach(async () => {
    time = 0
    const now = () => new Date(time)
    from = createMemoryBlobStore(now)
    to = createMemoryBlobStore(now)
    await putText(from, 'alice', 'a.txt', 'one')
    await putText(from, 'alice', 'b.txt', 'two')
    await putText(from, 'bob', 'a.txt', 'three')
  })

  it('ends the links of customers who have ended links in the source, once', async () => {
    await from.linkGenerations?.renew('alice')
    await copyFiles({ from, to })
    const [alice, bob] = [
      await to.linkGenerations?.read('alice'),
      await to.linkGenerations?.read('bob'),
    ]
    expect(alice).not.to.equal('')
    expect(bob).to.equal('')
    await copyFiles({ from, to })
    expect(await to.linkGenerations?.read('alice')).to.equal(alice)
  })

  it('copies the files of all customers, and says how many and how much', async () => {
    expect(await copyFiles({ from, to })).to.deep.equal({
      copied: { files: 3, bytes: 11 },
      present: nothing,
      removed: 0,
      extra: 0,
      versions: nothing,
      versionsLeftOut: 0,
      failures: [],
      isCaughtUp: true,
      stoppedBy: undefined,
    })
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  it('reports how far it is: counts first, then copies, then looks again', async () => {
    await putText(to, 'alice', 'a.txt', 'one')
    const reported: CopyProgress[] = []
    let tries = 0
    // The first copy of a file is wrong, so that it is sent twice.
    const target: BlobStore = {
      ...to,
      async put(key, content, options) {
        const info = await to.put(key, content, options)
        return key.name === 'b.txt' && tries++ === 0 ? putText(to, 'alice', 'b.txt', 'owt') : info
      },
    }
    await copyFiles({ from, to: target, onProgress: (progress) => reported.push(progress) })
    const stages = reported.map(({ stage }) => stage)
    expect(stages.filter((stage, index) => stage !== stages[index - 1])).to.deep.equal([
      'counting',
      'copying',
      'catching up',
    ])
    const all = { files: 3, bytes: 11 }
    for (const stage of ['copying', 'catching up'] as const) {
      const first = reported.find((progress) => progress.stage === stage)
      const last = reported.findLast((progress) => progress.stage === stage)
      expect(first).to.deep.include({ done: nothing, total: all })
      expect(last).to.deep.include({ done: all, total: all, moved: 3 + 3 + 3 + 5, failed: 0 })
    }
  })

  it('copies the files of one customer alone', async () => {
    await putText(to, 'bob', 'z.txt', 'not looked at')
    const result = await copyFiles({ from, to, customer: 'alice', removeExtra: true })
    expect(result).to.deep.include({ copied: { files: 2, bytes: 6 }, extra: 0, removed: 0 })
    expect(Object.keys(await contentOf(to))).to.deep.equal([
      'alice/a.txt',
      'alice/b.txt',
      'bob/z.txt',
    ])
  })

  it('copies nothing a second time', async () => {
    await copyFiles({ from, to })
    const before = await to.stat({ customer: 'alice', name: 'a.txt' })
    const result = await copyFiles({ from, to })
    expect(result).to.deep.include({ copied: nothing, present: { files: 3, bytes: 11 } })
    expect(await to.stat({ customer: 'alice', name: 'a.txt' })).to.deep.equal(before)
  })

  it('copies what has another size, however old the original is', async () => {
    time = 60 * minutes
    await putText(to, 'alice', 'a.txt', 'longer')
    const result = await copyFiles({ from, to })
    expect(result.copied.files).to.equal(3)
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  for (const age of [-60, 0, 60]) {
    it(`compares a file of the same size by content, ${age} minutes younger than the original`, async () => {
      time = age * minutes
      await putText(to, 'alice', 'a.txt', 'eno')
      expect((await copyFiles({ from, to })).copied.files).to.equal(3)
      expect(await contentOf(to)).to.deep.equal(await contentOf(from))
    })
  }

  /** `store`, where all content has one entity tag. */
  function withTag(store: BlobStore, etag: string): BlobStore {
    return {
      ...store,
      async stat(key) {
        const info = await store.stat(key)
        return info && { ...info, etag }
      },
      async open(key) {
        const blob = await store.open(key)
        return blob && { ...blob, info: { ...blob.info, etag } }
      },
    }
  }

  it('takes an entity tag that S3 makes of the content for the content, and no other', async () => {
    await putText(to, 'alice', 'a.txt', 'eno')
    await putText(to, 'alice', 'b.txt', 'two')
    const digest = 'd41d8cd98f00b204e9800998ecf8427e'
    for (const [tag, compared] of [
      [digest, false],
      [`${digest}-2`, false],
      ['5yxyd-g-dn0jmh9hvjyq', true],
    ] as const) {
      let readings = 0
      const open: BlobStore['open'] = (key) => {
        if (key.customer === 'alice' && key.name === 'a.txt') readings++
        return to.open(key)
      }
      const tagged = [withTag(from, tag), withTag({ ...to, open }, tag)] as const
      await copyFiles({ from: tagged[0], to: tagged[1] })
      expect(readings > 0, tag).to.equal(compared)
      await putText(to, 'alice', 'a.txt', 'eno')
    }
  })

  it('compares everything by content with "verify"', async () => {
    await copyFiles({ from, to })
    await putText(to, 'alice', 'a.txt', 'eno')
    const digest = 'd41d8cd98f00b204e9800998ecf8427e'
    const result = await copyFiles({
      from: withTag(from, digest),
      to: withTag(to, digest),
      verify: true,
    })
    expect(result).to.deep.include({
      copied: { files: 1, bytes: 3 },
      present: { files: 2, bytes: 8 },
    })
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  it('counts what is only in the target, also of customers whom the source does not know', async () => {
    await putText(to, 'alice', 'c.txt', 'more')
    await putText(to, 'zoe', 'a.txt', 'more')
    const result = await copyFiles({ from, to })
    expect(result).to.deep.include({ extra: 2, removed: 0 })
    expect(await contentOf(to)).to.include({ 'alice/c.txt': 'more', 'zoe/a.txt': 'more' })
  })

  it('removes that with "removeExtra"', async () => {
    await putText(to, 'alice', 'c.txt', 'more')
    await putText(to, 'zoe', 'a.txt', 'more')
    const result = await copyFiles({ from, to, removeExtra: true })
    expect(result).to.deep.include({ extra: 0, removed: 2 })
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  it('does not remove what has come into the source since it was listed', async () => {
    await putText(to, 'alice', 'c.txt', 'more')
    let stats = 0
    const source = watchedStore(from, async (method, { name }) => {
      if (method !== 'stat' || name !== 'c.txt' || stats++ > 0) return
      await putText(from, 'alice', 'c.txt', 'new')
    })
    const target = watchedStore(to, (method) => {
      if (method === 'delete') throw new Error('nothing is to be deleted')
    })
    const result = await copyFiles({ from: source, to: target, removeExtra: true })
    expect(result.failures).to.deep.equal([])
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  it('does not empty the target after a source that has nothing', async () => {
    const empty = createMemoryBlobStore()
    await putText(to, 'alice', 'a.txt', 'kept')
    await putText(to, 'zoe', 'a.txt', 'kept')
    const errors = await Promise.all(
      [
        { from: empty, to },
        { from, to, customer: 'zoe' },
      ].map((stores) => copyFiles({ ...stores, removeExtra: true }).catch((e: unknown) => e)),
    )
    for (const error of errors) expect(error).to.be.instanceOf(EmptySourceError)
    expect(Object.keys(await contentOf(to))).to.have.length(2)
    expect((await copyFiles({ from: empty, to })).extra).to.equal(2)
  })

  describe('while the source changes', () => {
    /** Does `change` when the file has been copied, and walked past. */
    const afterCopying = (customer: string, name: string, change: () => Promise<unknown>) => {
      let isDone = false
      return watchedStore(from, async (method, key) => {
        if (isDone || method !== 'open' || key.customer !== customer || key.name !== name) return
        isDone = true
        await change()
      })
    }

    it('copies what has come behind it, and what was replaced there by something as long', async () => {
      const source = afterCopying('bob', 'a.txt', async () => {
        await putText(from, 'alice', '0.txt', 'came')
        await putText(from, 'alice', 'a.txt', 'eno')
      })
      const result = await copyFiles({ from: source, to, concurrency: 1 })
      expect(result).to.deep.include({ copied: { files: 5, bytes: 18 }, isCaughtUp: true })
      expect(await contentOf(to)).to.deep.equal(await contentOf(from))
    })

    it('reads nothing again that it has copied', async () => {
      const opened: string[] = []
      const source = watchedStore(from, (method, key) => {
        if (method === 'open') opened.push(`${key.customer}/${key.name}`)
      })
      await copyFiles({ from: source, to, concurrency: 1 })
      expect(opened).to.deep.equal(['alice/a.txt', 'alice/b.txt', 'bob/a.txt'])
    })

    it('reports what was deleted after it had passed, or removes that', async () => {
      const change = () => from.delete({ customer: 'alice', name: 'a.txt' })
      const source = afterCopying('bob', 'a.txt', change)
      const result = await copyFiles({ from: source, to, concurrency: 1 })
      expect(result).to.deep.include({ extra: 1, failures: [] })
      expect((await copyFiles({ from, to, removeExtra: true })).removed).to.equal(1)
      expect(await contentOf(to)).to.deep.equal(await contentOf(from))
    })

    it('walks five times at most, and says that it has not caught up', async () => {
      let round = 0
      const source: BlobStore = {
        ...from,
        async *list(customer) {
          yield* from.list(customer)
          await putText(from, 'alice', `${round++}.txt`, 'new')
        },
      }
      const result = await copyFiles({ from: source, to, customer: 'alice' })
      expect(result).to.deep.include({ isCaughtUp: false, stoppedBy: undefined })
      expect(round).to.equal(5)
    })
  })
})
