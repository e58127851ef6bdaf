import { setTimeout as delay } from 'node:timers/promises'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { createKeptObjects } from '../../src/read/get-object.ts'
import { bytesOf, contentOf, key } from '../faults/blobs.ts'
import { openMinioHarness } from '../minio-harness.ts'

const KiB = 1024

const objectOf = (size: number, etag = '"x"') => ({
  modifiedAt: new Date(0),
  etag,
  bytes: Buffer.alloc(size),
})

describe('createKeptObjects', () => {
  it('keeps those that were asked for last, with what they take beside their bytes', () => {
    const kept = createKeptObjects(3 * 2 * KiB)
    for (const each of ['a', 'b', 'c']) kept.keep(each, objectOf(KiB))
    kept.find('a')
    kept.keep('d', objectOf(KiB))
    expect(['a', 'b', 'c', 'd'].filter((each) => kept.find(each))).to.deep.equal(['a', 'c', 'd'])
    kept.drop('a')
    expect(kept.find('a')).to.equal(undefined)
  })

  it('keeps nothing of 0 bytes', () => {
    const kept = createKeptObjects(0)
    kept.keep('a', objectOf(0))
    expect(kept.find('a')).to.equal(undefined)
  })

  for (const etag of ['', '""', 'W/"x"', 'x']) {
    it(`keeps nothing by the entity tag ${JSON.stringify(etag)}`, () => {
      const kept = createKeptObjects(9 * KiB)
      kept.keep('a', objectOf(1, etag))
      expect(kept.find('a')).to.equal(undefined)
    })
  }
})

describeWithMinio('openMinioBlobStore, of what is small', (minio) => {
  const open = async (cacheBytes?: number) => {
    const harness = await openMinioHarness(minio(), cacheBytes === undefined ? {} : { cacheBytes })
    return {
      ...harness,
      other: await harness.openAgain(),
      get: () => harness.store.open(key),
      [Symbol.asyncDispose]: () => harness.dispose(),
    }
  }

  it('has it sent once only, and asks each time whether it has changed', async () => {
    await using site = await open()
    const content = bytesOf(64 * KiB)
    await site.other.put(key, contentOf(content))
    const [first, second] = [await site.get(), await site.get()]
    expect(first?.bytes && content.equals(first.bytes)).to.equal(true)
    expect(second?.bytes === first?.bytes, 'the same buffer').to.equal(true)
    expect(second?.info).to.deep.equal(first?.info)
    expect(second?.range).to.deep.equal({ offset: 0, length: 64 * KiB })
    expect(await site.heldResources()).to.equal(0)

    await site.other.put(key, contentOf(bytesOf(64 * KiB, 2)))
    const replaced = await site.get()
    expect(replaced?.bytes && bytesOf(64 * KiB, 2).equals(replaced.bytes)).to.equal(true)
    expect(replaced?.info.etag).to.not.equal(first?.info.etag)

    await site.other.delete(key)
    expect(await site.get()).to.equal(undefined)
  })

  it('says the time at which the same bytes were written last', async () => {
    await using site = await open()
    await site.other.put(key, contentOf(bytesOf(KiB)))
    const before = await site.get()
    // Times have no fractions of a second.
    await delay(1100)
    const written = await site.other.put(key, contentOf(bytesOf(KiB)))
    const after = await site.get()
    expect(after?.info).to.deep.equal(written)
    expect(after?.info.modifiedAt).to.be.greaterThan(before?.info.modifiedAt ?? new Date())
  })

  it('gives of what it keeps no more than is asked for', async () => {
    await using site = await open()
    await site.other.put(key, contentOf(bytesOf(KiB)))
    await site.get()
    const part = await site.store.open(key, { range: { first: 10, last: 19 } })
    expect(part?.bytes && bytesOf(KiB).subarray(10, 20).equals(part.bytes)).to.equal(true)
    expect((await site.get())?.info.size).to.equal(KiB)
  })

  it('has it sent each time where nothing is to be kept', async () => {
    await using site = await open(0)
    await site.other.put(key, contentOf(bytesOf(KiB)))
    const [first, second] = [await site.get(), await site.get()]
    expect(second?.bytes).to.deep.equal(first?.bytes)
    expect(second?.bytes === first?.bytes, 'the same buffer').to.equal(false)
  })
})
