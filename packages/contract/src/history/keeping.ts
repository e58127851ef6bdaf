import { setTimeout as delay } from 'node:timers/promises'
import type { History, KeptBlob } from '@holdfast/core'
import { expect } from 'chai'
import { collect, expectAbsent, expectBlob, names } from '../support/expectations.ts'
import { nastyNames } from '../support/nasty-names.ts'
import { pattern, inChunks, MiB } from '../support/content.ts'
import {
  bytesOf,
  expectKept,
  historyOf,
  keep,
  key,
  newestOf,
  other,
  put,
  sizesOf,
  versionsOf,
  type HistoryTest,
} from './history-harness.ts'

export function keeping(test: HistoryTest, clockToleranceMs: number): void {
  test('is what a put has replaced, to the byte', async ({ store, history }) => {
    for (const index of [1, 2, 3]) await put(store, key, index)
    await expectKept(history, key, [2, 1])
    await expectBlob(store, key, bytesOf(3))
  })

  test('is what was deleted', async ({ store, history }) => {
    await put(store, key, 1)
    expect(await store.delete(key, keep)).to.equal(true)
    await expectAbsent(store, key)
    await expectKept(history, key, [1])
  })

  test('is what a rename has replaced, under its name', async ({ store, history }) => {
    await put(store, key, 1)
    await put(store, other, 2)
    await store.rename?.(key, other.name, keep)
    await expectKept(history, other, [2])
    await expectKept(history, key, [])
  })

  test('stays with the name when the file is renamed', async ({ store, history }) => {
    for (const index of [1, 2]) await put(store, key, index)
    await store.rename?.(key, 'free', { ...keep, createOnly: true })
    await expectKept(history, key, [1])
    await expectKept(history, { ...key, name: 'free' }, [])
    await put(store, { ...key, name: 'free' }, 3)
    await expectKept(history, { ...key, name: 'free' }, [2])
  })

  test('is what an upload in pieces has replaced', async ({ store, history }) => {
    await put(store, key, 1)
    const { resumable } = store
    if (!resumable) return
    for (const index of [2, 3]) {
      const plan = { name: 'a', length: 1000 + index, expiresAfterMs: 60_000 }
      const { id } = await resumable.begin('alice', plan)
      const upload = { customer: 'alice', id }
      await resumable.append(upload, 0, inChunks(bytesOf(index)))
      await resumable.publish(upload, keep)
      await resumable.discard(upload)
    }
    await expectKept(history, key, [2, 1])
    await expectBlob(store, key, bytesOf(3))
  })

  test('is what has expired', async ({ store, history }) => {
    const blob = await put(store, key, 1)
    const { expiry } = store
    if (!expiry) return
    expect(await expiry.deleteUnchanged('alice', blob, keep)).to.equal(true)
    await expectAbsent(store, key)
    await expectKept(history, key, [1])
  })

  test('begins with blobs that were put without keeping', async ({ store, history }) => {
    await store.put(key, inChunks(bytesOf(1)))
    await put(store, key, 2)
    await expectKept(history, key, [1])
  })

  test('has size, times and entity tag of the blob, and when it was replaced', async (harness) => {
    const { store, history } = harness
    const blob = await put(store, key, 1)
    await delay(20)
    const before = Date.now()
    await store.delete(key, keep)
    const after = Date.now()
    const { version, replacedAt, ...info } = await newestOf(history, key)
    expect(info).to.deep.equal(blob)
    expect(version).to.match(/^[\w.-]{1,200}$/u)
    expect(replacedAt.getTime()).to.be.within(before - clockToleranceMs, after + clockToleranceMs)
  })

  test('is empty, and keeps empty blobs', async ({ store, history }) => {
    await expectKept(history, key, [])
    expect(await collect(history.kept('alice'))).to.deep.equal([])
    await store.put(key, inChunks(new Uint8Array()), keep)
    await store.delete(key, keep)
    expect(sizesOf(await versionsOf(history, key))).to.deep.equal([0])
  })

  test('keeps large blobs, whose ranges can be read', async ({ store, history }) => {
    const bytes = pattern(6 * MiB + 5)
    await store.put(key, inChunks(bytes), keep)
    await store.delete(key, keep)
    const { version } = await newestOf(history, key)
    const range = { first: MiB, last: MiB + 99 }
    const opened = await history.open({ ...key, version }, { range })
    expect(opened?.range).to.deep.equal({ offset: MiB, length: 100 })
    const read = Buffer.concat(await collect(opened?.content ?? inChunks(new Uint8Array())))
    expect(read.equals(bytes.subarray(MiB, MiB + 100))).to.equal(true)
  })

  test('belongs to one name of one customer, whatever they are', async ({ store, history }) => {
    for (const [index, nasty] of nastyNames.entries()) {
      const odd = { customer: nasty, name: nasty }
      await put(store, odd, index)
      await store.delete(odd, keep)
    }
    for (const [index, nasty] of nastyNames.entries()) {
      const odd = { customer: nasty, name: nasty }
      await expectKept(history, odd, [index])
      const deleted = (await collect(history.deleted(nasty))).flat()
      expect(deleted.map(({ name }) => name)).to.deep.equal([nasty])
    }
    const found = await collect(history.customers())
    expect(found).to.have.members([...nastyNames])
  })

  test('is no blob', async ({ store, history }) => {
    await put(store, key, 1)
    await store.delete(key, keep)
    await put(store, other, 2)
    expect(await names(store, 'alice')).to.deep.equal(['b'])
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 1002 })
    await expectAbsent(store, key)
    await put(store, key, 3)
    await expectKept(history, key, [1])
  })

  test('is found by every opening', async ({ store, openAgain, history }) => {
    const again = await openAgain()
    await put(again, key, 1)
    await put(store, key, 2)
    await again.delete(key, keep)
    await expectKept(history, key, [2, 1])
    await expectKept(historyOf(again), key, [2, 1])
  })

  test('is opened only by its own version', async ({ store, history }) => {
    await put(store, key, 1)
    await put(store, other, 2)
    await store.delete(key, keep)
    const { version } = await newestOf(history, key)
    for (const wrong of ['0', 'a-b', `${version}0`, 'null', 'x'.repeat(200)]) {
      expect(await history.open({ ...key, version: wrong }), wrong).to.equal(undefined)
    }
    expect(await history.open({ ...other, version })).to.equal(undefined)
    expect(await history.open({ ...key, customer: 'bob', version })).to.equal(undefined)
  })
}

export function versionsOfOne(test: HistoryTest, manyVersions: number): void {
  test('come newest first, each with a version of its own', async ({ store, history }) => {
    for (const index of [1, 2, 3, 4]) await put(store, key, index)
    await store.delete(key, keep)
    await put(store, key, 5)
    await expectKept(history, key, [4, 3, 2, 1])
    const versions = (await versionsOf(history, key)).map(({ version }) => version)
    expect(new Set(versions).size).to.equal(4)
  })

  test('keeps the same content twice', async ({ store, history }) => {
    for (const index of [1, 1, 1]) await put(store, key, index)
    await expectKept(history, key, [1, 1])
  })

  test('come in pages, from any one on', async ({ store, history }) => {
    for (let index = 0; index <= manyVersions; index++) {
      await store.put(key, inChunks(pattern(index % 7)), keep)
    }
    const pages = await collect(history.versions(key))
    for (const page of pages) expect(page.length).to.be.within(1, 1024)
    const all = pages.flat()
    expect(all).to.have.length(manyVersions)
    expect(sizesOf(all)).to.deep.equal(
      Array.from({ length: manyVersions }, (_, at) => (manyVersions - 1 - at) % 7),
    )
    const read: KeptBlob[] = []
    let before: string | undefined
    for (;;) {
      const options = { limit: 17, ...(before !== undefined && { before }) }
      const some = (await collect(history.versions(key, options))).flat()
      expect(some.length).to.be.at.most(17)
      read.push(...some)
      before = some.at(-1)?.version
      if (some.length < 17) break
    }
    expect(read).to.deep.equal(all)
  })
}

export function deletedNames(test: HistoryTest): void {
  test('are those without a blob, each with what was kept last', async ({ store, history }) => {
    for (const index of [1, 2]) await put(store, key, index)
    await store.delete(key, keep)
    for (const index of [3, 4]) await put(store, other, index)
    const deleted = (await collect(history.deleted('alice'))).flat()
    expect(deleted).to.deep.equal([await newestOf(history, key)])
    expect(deleted[0]?.size).to.equal(1002)
  })

  test('have what was kept last, also of a file that was renamed to the name and is older', async ({
    store,
    history,
  }) => {
    await put(store, other, 1)
    await put(store, key, 2)
    await store.delete(key, keep)
    await store.rename?.(other, key.name, keep)
    await store.delete(key, keep)
    const deleted = (await collect(history.deleted('alice'))).flat()
    expect(deleted.map(({ name, size }) => [name, size])).to.deep.equal([['a', 1001]])
    await expectKept(history, key, [1, 2])
  })

  test('come in the order of their bytes, in pages and parts', async ({ store, history }) => {
    const all = ['\u{10000}', '\uffff', 'a1', 'a10', 'a2', 'b', 'ä'].map((name) => ({
      customer: 'alice',
      name,
    }))
    for (const one of all) {
      await put(store, one, 1)
      await store.delete(one, keep)
    }
    const namesOf = async (options?: Parameters<History['deleted']>[1]) =>
      (await collect(history.deleted('alice', options))).flat().map(({ name }) => name)
    const ordered = ['a1', 'a10', 'a2', 'b', 'ä', '\uffff', '\u{10000}']
    expect(await namesOf()).to.deep.equal(ordered)
    expect(await namesOf({ prefix: 'a' })).to.deep.equal(['a1', 'a10', 'a2'])
    expect(await namesOf({ after: 'a2' })).to.deep.equal(ordered.slice(3))
    expect(await namesOf({ after: 'a1', limit: 2 })).to.deep.equal(['a10', 'a2'])
    expect(await namesOf({ after: '\u{10000}' })).to.deep.equal([])
    expect(await collect(history.deleted('bob'))).to.deep.equal([])
  })

  test('leave out a name that was renamed away, and one that is used anew', async (harness) => {
    const { store, history } = harness
    await put(store, key, 1)
    await store.rename?.(key, 'c', keep)
    await put(store, other, 2)
    await store.delete(other, keep)
    await put(store, other, 3)
    expect(await collect(history.deleted('alice'))).to.deep.equal([])
  })
}
