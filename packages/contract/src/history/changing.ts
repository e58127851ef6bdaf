import { setTimeout as delay } from 'node:timers/promises'
import type { BlobKey } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import { collect, expectBlob, expectRefusal, names } from '../support/expectations.ts'
import { pattern, inChunks, MiB } from '../support/content.ts'
import {
  bytesOf,
  expectKept,
  keep,
  key,
  newestOf,
  other,
  put,
  sizesOf,
  versionsOf,
  type HistoryTest,
} from './history-harness.ts'

export function restoring(test: HistoryTest): void {
  test('stores the same bytes anew, and keeps what it replaces', async ({ store, history }) => {
    for (const index of [1, 2]) await put(store, key, index)
    const { version } = await newestOf(history, key)
    const present = await store.stat(key)
    const info = await history.restore({ ...key, version }, 'a')
    expect(info).to.include({ name: 'a', size: 1001 })
    expect(await store.stat(key)).to.deep.equal(info)
    expect(info?.modifiedAt.getTime()).to.be.at.least(present?.modifiedAt.getTime() ?? Infinity)
    await expectBlob(store, key, bytesOf(1))
    await expectKept(history, key, [2, 1])
  })

  test('brings back what was deleted', async ({ store, history }) => {
    const before = await put(store, key, 1)
    await store.delete(key, keep)
    const { version } = await newestOf(history, key)
    const info = await history.restore({ ...key, version }, 'a', { createOnly: true })
    await expectBlob(store, key, bytesOf(1))
    expect(info?.size).to.equal(before.size)
    expect(await collect(history.deleted('alice'))).to.deep.equal([])
    await expectKept(history, key, [1])
  })

  test('restores under another name', async ({ store, history }) => {
    await put(store, key, 1)
    await put(store, key, 2)
    await put(store, other, 3)
    const { version } = await newestOf(history, key)
    expect(await history.restore({ ...key, version }, 'b')).to.include({ name: 'b', size: 1001 })
    await expectBlob(store, other, bytesOf(1))
    await expectBlob(store, key, bytesOf(2))
    await expectKept(history, other, [3])
    await expectKept(history, key, [1])
  })

  test('refuses a taken name if asked to, and changes nothing', async ({ store, history }) => {
    await put(store, key, 1)
    await put(store, key, 2)
    await put(store, other, 3)
    const { version } = await newestOf(history, key)
    const refused = history.restore({ ...key, version }, 'b', { createOnly: true })
    await expectRefusal(refused, 'already-exists')
    await expectBlob(store, other, bytesOf(3))
    await expectKept(history, other, [])
  })

  test('finds nothing that is not kept, and changes nothing', async ({ store, history }) => {
    await put(store, key, 1)
    await put(store, key, 2)
    const { version } = await newestOf(history, key)
    for (const wrong of [
      { ...key, version: `${version}0` },
      { ...other, version },
      { ...key, customer: 'bob', version },
    ]) {
      expect(await history.restore(wrong, 'c')).to.equal(undefined)
    }
    expect(await names(store, 'alice')).to.deep.equal(['a'])
    await expectBlob(store, key, bytesOf(2))
  })

  test('restores large blobs', async ({ store, history }) => {
    const bytes = pattern(11 * MiB + 1)
    await store.put(key, inChunks(bytes), keep)
    await store.delete(key, keep)
    const { version } = await newestOf(history, key)
    await history.restore({ ...key, version }, 'a')
    await expectBlob(store, key, bytes)
  })
}

export function purging(test: HistoryTest, clockToleranceMs: number): void {
  /** Later and earlier than all that a test has replaced. */
  const later = () => new Date(Date.now() + clockToleranceMs + 1_000)

  test('removes what is kept, and no blob', async ({ store, history }) => {
    for (const index of [1, 2, 3]) await put(store, key, index)
    await put(store, other, 4)
    await store.delete(other, keep)
    const { version } = await newestOf(history, key)
    expect(await history.purge('alice', later())).to.deep.equal({ blobs: 3, bytes: 3007 })
    await expectKept(history, key, [])
    expect(await history.open({ ...key, version })).to.equal(undefined)
    expect(await collect(history.deleted('alice'))).to.deep.equal([])
    expect(await collect(history.kept('alice'))).to.deep.equal([])
    await expectBlob(store, key, bytesOf(3))
    expect(await history.purge('alice', later())).to.deep.equal({ blobs: 0, bytes: 0 })
  })

  test('leaves what was replaced later, however old it is', async ({ store, history }) => {
    await put(store, key, 1)
    await put(store, other, 2)
    await store.delete(other, keep)
    await delay(2 * clockToleranceMs + 200)
    const time = new Date(Date.now() - clockToleranceMs)
    await store.delete(key, keep)
    expect(await history.purge('alice', time)).to.deep.equal({ blobs: 1, bytes: 1002 })
    await expectKept(history, key, [1])
    await expectKept(history, other, [])
  })

  test('leaves other customers alone', async ({ store, history }) => {
    const bob = { ...key, customer: 'bob' }
    for (const one of [key, bob]) {
      await put(store, one, 1)
      await store.delete(one, keep)
    }
    await history.purge('alice', later())
    await expectKept(history, bob, [1])
  })

  test('lets readers end who have opened a version', async ({ store, history }) => {
    await store.put(key, inChunks(pattern(200_000)), keep)
    await store.delete(key, keep)
    const { version } = await newestOf(history, key)
    const opened = await history.open({ ...key, version })
    await history.purge('alice', later())
    const read = Buffer.concat(await collect(opened?.content ?? inChunks(new Uint8Array())))
    expect(read.equals(pattern(200_000))).to.equal(true)
  })

  test('lets a name be kept anew', async ({ store, history }) => {
    for (const index of [1, 2]) await put(store, key, index)
    await history.purge('alice', later())
    await put(store, key, 3)
    await store.delete(key, keep)
    await expectKept(history, key, [3, 2])
  })
}

export function atOnce(test: HistoryTest): void {
  test('loses nothing when puts of one name meet', async ({ store, openAgain, history }) => {
    const stores = [store, await openAgain()]
    for (let round = 0; round < 5; round++) {
      const one = { customer: 'alice', name: `round ${round}` }
      const indices = Array.from({ length: 8 }, (_, at) => round * 8 + at)
      await Promise.all(indices.map((index) => put(stores[index % 2] ?? store, one, index)))
      const present = await store.stat(one)
      const all = [present?.size, ...sizesOf(await versionsOf(history, one))]
      expect(all).to.have.members(indices.map((index) => 1000 + index))
    }
  })

  test('loses nothing when puts, renames and deletions meet', async (harness) => {
    const { store, history } = harness
    const again = await harness.openAgain()
    for (let round = 0; round < 10; round++) {
      const [from, to] = ['from', 'to'].map((name) => ({
        customer: 'alice',
        name: `${name} ${round}`,
      })) as [BlobKey, BlobKey]
      await put(store, from, 1)
      await put(store, to, 2)
      await Promise.all([
        put(again, from, 3),
        put(store, to, 4),
        again.rename?.(from, to.name, keep),
        store.delete(to, keep),
        delay(round % 3).then(() => put(store, to, 5)),
      ])
      const found = new Set<number>()
      for (const one of [from, to]) {
        const present = await store.stat(one)
        if (present) found.add(present.size)
        for (const size of sizesOf(await versionsOf(history, one))) found.add(size)
      }
      expect([...found], `round ${round}`).to.have.members([1001, 1002, 1003, 1004, 1005])
    }
  })

  test('purges no blob that is put, deleted or restored meanwhile', async ({ store, history }) => {
    for (let round = 0; round < 10; round++) {
      const one = { customer: 'alice', name: `round ${round}` }
      await put(store, one, 1)
      await put(store, one, 2)
      const [newest] = await versionsOf(history, one)
      if (!newest) throw new AssertionError('nothing is kept')
      const long = new Date(Date.now() - 3_600_000)
      const [, restored] = await Promise.all([
        history.purge('alice', long),
        history.restore({ ...one, version: newest.version }, one.name),
        put(store, one, 3),
      ])
      expect(restored?.size).to.equal(1001)
      const present = await store.stat(one)
      const all = [present?.size, ...sizesOf(await versionsOf(history, one))]
      expect(all, `round ${round}`).to.have.members([1001, 1001, 1002, 1003])
    }
  })
}
