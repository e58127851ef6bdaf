import { lstatSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import {
  createUnchangedCache,
  type UnchangedCacheOptions,
} from '../../src/files/unchanged-cache.ts'
import { createBlobReader } from '../../src/read/blob-reader.ts'
import { collect } from '../collect.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'

const key = { customer: 'alice', name: 'blob' }

async function* text(content: string) {
  yield Buffer.from(content)
}

/** A store with a small blob that was read a moment ago. */
async function openAgain(content = 'first') {
  const place = await makeTemporaryDirectory()
  const store = await openDiskBlobStore({ directory: place.path, names: 'plain' })
  await store.put(key, text(content))
  const read = async (range?: { first: number; last: number }) => {
    const blob = await store.open(key, range && { range })
    if (!blob) return undefined
    const content = Buffer.concat(await collect(blob.content)).toString()
    return { ...blob, text: content, isAtOnce: blob.bytes !== undefined }
  }
  await read()
  return {
    store,
    read,
    data: place.path,
    path: join(place.path, 'files', 'alice', 'blob'),
    async [Symbol.asyncDispose]() {
      await store.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

describe('openDiskBlobStore, asked again for a small blob', () => {
  it('has its bytes at once, or those of the range, and holds no file open', async () => {
    await using again = await openAgain('0123456789')
    const whole = await again.read()
    expect([whole?.isAtOnce, whole?.text]).to.deep.equal([true, '0123456789'])
    const part = await again.read({ first: 3, last: 5 })
    expect([part?.isAtOnce, part?.text, part?.range]).to.deep.equal([
      true,
      '345',
      { offset: 3, length: 3 },
    ])
    const none = await again.read({ first: 10, last: 12 })
    expect([none?.isAtOnce, none?.text, none?.range]).to.deep.equal([true, '', undefined])
    expect(await openFilesIn(again.data)).to.deep.equal([])
  })

  it('describes it as a blob that is read asynchronously', async () => {
    await using again = await openAgain()
    expect((await again.read())?.info).to.deep.equal(await again.store.stat(key))
  })

  it('has what is there now, however it was changed', async () => {
    await using again = await openAgain()
    const changes: readonly (readonly [string, () => Promise<unknown>, string | undefined])[] = [
      ['replaced', () => again.store.put(key, text('other')), 'other'],
      ['written by another program', () => writeFile(again.path, 'again'), 'again'],
      ['shortened', () => truncate(again.path, 2), 'ag'],
      ['moved away', () => rename(again.path, `${again.path}2`), undefined],
      ['moved back', () => rename(`${again.path}2`, again.path), 'ag'],
      ['deleted', () => again.store.delete(key), undefined],
      ['made a link', () => symlink('/etc/passwd', again.path), undefined],
      ['no link any more', () => rm(again.path), undefined],
      ['made large', () => writeFile(again.path, 'x'.repeat(100_000)), 'x'.repeat(100_000)],
      ['stored anew', () => again.store.put(key, text('')), ''],
    ]
    for (const [title, change, content] of changes) {
      await change()
      expect((await again.read())?.text, title).to.equal(content)
      expect((await again.read())?.text, `${title}, again`).to.equal(content)
    }
    expect(await openFilesIn(again.data)).to.deep.equal([])
  })
})

/** A file that `read` reads, through the cache; `write` changes it in place, as late as the file system can tell. */
async function openFile(options: UnchangedCacheOptions) {
  const place = await makeTemporaryDirectory()
  const path = join(place.path, 'a')
  const readBlob = createBlobReader(true, { cache: createUnchangedCache(options) })
  const read = async (file = path) => (await readBlob(file, 'a', {}))?.bytes
  const write = (content: string) => {
    const before = lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs
    do writeFileSync(path, content)
    while (lstatSync(path, { bigint: true }).ctimeNs === before)
  }
  return { path, read, write, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() }
}

/** What has just been written is kept at once. */
const atOnce = { settlesAfterMs: -1_000_000 }

describe('createBlobReader', () => {
  it('keeps the bytes of a file, and reads it anew whenever it has changed', async () => {
    await using file = await openFile(atOnce)
    file.write('one')
    const first = await file.read()
    expect(first?.toString()).to.equal('one')
    expect(await file.read(), 'the same bytes').to.equal(first)
    const { atime, mtime } = lstatSync(file.path)
    file.write('two')
    utimesSync(file.path, atime, mtime)
    expect((await file.read())?.toString(), 'of the same size and time').to.equal('two')
    rmSync(file.path)
    expect(await file.read()).to.equal(undefined)
    file.write('six')
    expect((await file.read())?.toString()).to.equal('six')
  })

  it('keeps nothing that has changed a moment ago', async () => {
    await using file = await openFile({ settlesAfterMs: 60_000 })
    file.write('one')
    expect(await file.read()).not.to.equal(await file.read())
  })

  it('keeps no more bytes than it may, and none where it may not', async () => {
    await using file = await openFile({ ...atOnce, cacheBytes: 6_000 })
    await using other = await openFile({ ...atOnce, cacheBytes: 0 })
    const paths = ['a', 'b', 'c'].map((name) => `${file.path}${name}`)
    for (const path of [...paths, other.path]) writeFileSync(path, 'x'.repeat(2_000))
    let kept = 0
    for (const path of paths) if ((await file.read(path)) === (await file.read(path))) kept++
    expect(kept, 'one at a time').to.equal(3)
    const [first = ''] = paths
    const before = await file.read(first)
    for (const path of paths) await file.read(path)
    expect(await file.read(first), 'pushed out').not.to.equal(before)
    expect(await other.read()).not.to.equal(await other.read())
  })

  it('has the bytes of a small range of a large file in memory', async () => {
    await using file = await openFile({})
    writeFileSync(file.path, Buffer.alloc(1_000_000, '0123456789'))
    const readBlob = createBlobReader(true, { cache: createUnchangedCache() })
    const rangeOf = async (first: number, last: number) => {
      const blob = await readBlob(file.path, 'a', { range: { first, last } })
      const text = blob ? Buffer.concat(await collect(blob.content)).toString() : ''
      return [blob?.bytes?.length, blob?.range, text.length, text.slice(0, 3)]
    }
    expect(await rangeOf(5, 100_004)).to.deep.equal([
      ...[100_000, { offset: 5, length: 100_000 }],
      ...[100_000, '567'],
    ])
    expect(await rangeOf(999_999, 2_000_000)).to.deep.equal([
      ...[1, { offset: 999_999, length: 1 }],
      ...[1, '9'],
    ])
    expect(await rangeOf(1, 200_000)).to.deep.equal([
      ...[undefined, { offset: 1, length: 200_000 }],
      ...[200_000, '123'],
    ])
    expect(await openFilesIn(dirname(file.path))).to.deep.equal([])
  })

  it('leaves reads to the pool where one took long, and still looks itself at files whose bytes it has', async () => {
    await using place = await makeTemporaryDirectory()
    const [known, slow, other] = ['known', 'slow', 'other'].map((name) => join(place.path, name))
    for (const path of [known, slow, other]) writeFileSync(path ?? '', 'content')
    let time = 0
    const readBlob = createBlobReader(true, {
      cache: createUnchangedCache({ settlesAfterMs: -1 }),
      clock: { now: () => time, withoutProcessor: () => 0 },
    })
    const read = (path = '') => readBlob(path, 'a', {})
    await read(known)
    const pooled: string[] = []
    using _ = await interceptFileCalls({
      before({ name, path, isBlocking }) {
        if (isBlocking && name === 'read' && path === slow) time += 5
        if (!isBlocking) pooled.push(`${name} ${basename(path)}`)
      },
    })
    await read(slow)
    expect(pooled.splice(0)).to.deep.equal(['close slow'])
    await read(other)
    expect(pooled.splice(0)).to.deep.equal([
      ...['open other', 'stat other', 'read other', 'close other'],
    ])
    await read(known)
    expect(pooled).to.deep.equal([])
  })
})
