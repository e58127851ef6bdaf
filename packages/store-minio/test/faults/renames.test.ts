import { describeWithMinio } from '@holdfast/testing/minio'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { bytesOf, contentOf, key } from './blobs.ts'
import { expectUnavailable, inTime, withFaultyStore, type FaultyStore } from './faulty-store.ts'

const mine = bytesOf(1000, 2)
const theirs = bytesOf(500, 4)
const to = 'the new name'
const target = { ...key, name: to }

const requests = {
  begin: /^POST .*\?uploads/,
  copy: /^PUT .*x-id=UploadPartCopy/,
  completion: /^POST .*\?uploadId=/,
  deletion: /^DELETE .*x-id=DeleteObject/,
}

describeWithMinio('rename of openMinioBlobStore, where an answer is lost', (minio) => {
  /** Runs a rename whose request is carried out; then `meanwhile`; and only then the answer is lost. */
  async function renameLosing(
    { proxy, store }: FaultyStore,
    request: RegExp,
    meanwhile: () => Promise<unknown> = async () => {},
  ) {
    await store.put(key, contentOf(mine))
    proxy.inject({
      ...{ kind: 'stall', direction: 'answer', position: 'first byte' },
      ...{ request, times: 1 },
    })
    const renaming = store.rename?.(key, to) ?? Promise.resolve(undefined)
    renaming.catch(() => {})
    await until('the request is carried out', () => proxy.strikes() === 1)
    await meanwhile()
    proxy.heal()
    return renaming
  }

  for (const [what, request] of Object.entries(requests)) {
    it(`of its ${what}, has the new name alone`, () =>
      withFaultyStore(minio(), {}, async (faulty) => {
        const info = await inTime(renameLosing(faulty, request), 'rename')
        expect(await faulty.direct.stat(target)).to.deep.equal(info)
        const names: string[] = []
        for await (const page of faulty.direct.list(key.customer)) names.push(...page)
        expect(names).to.deep.equal([to])
      }))
  }

  it('of its completion, replaces nothing that others have stored since', () =>
    withFaultyStore(minio(), {}, async (faulty) => {
      const { direct } = faulty
      const theirPut = () => direct.put(target, contentOf(theirs))
      await expectUnavailable(renameLosing(faulty, requests.completion, theirPut), 'rename')
      expect((await direct.stat(target))?.size).to.equal(theirs.length)
      expect((await direct.stat(key))?.size).to.equal(mine.length)
    }))

  it('of its deletion, removes nothing that others have stored since', () =>
    withFaultyStore(minio(), {}, async (faulty) => {
      const { direct } = faulty
      const theirPut = () => direct.put(key, contentOf(theirs))
      await expectUnavailable(renameLosing(faulty, requests.deletion, theirPut), 'rename')
      expect((await direct.stat(key))?.size).to.equal(theirs.length)
      expect((await direct.stat(target))?.size).to.equal(mine.length)
    }))

  it('leaves what others store under the earlier name while it copies', () =>
    withFaultyStore(minio(), {}, async (faulty) => {
      const { direct } = faulty
      const theirPut = () => direct.put(key, contentOf(theirs))
      await inTime(renameLosing(faulty, requests.completion, theirPut), 'rename')
      expect((await direct.stat(key))?.size).to.equal(theirs.length)
      expect((await direct.stat(target))?.size).to.equal(mine.length)
    }))

  it('removes nothing that this process publishes under the earlier name meanwhile', () =>
    withFaultyStore(minio(), {}, async ({ store, proxy, direct }) => {
      await store.put(key, contentOf(mine))
      proxy.inject({
        ...{ kind: 'stall', direction: 'answer', position: 'first byte' },
        ...{ request: /^PUT .*x-id=PutObject/, times: 1 },
      })
      const putting = store.put(key, contentOf(theirs))
      putting.catch(() => {})
      await until('the put is carried out', () => proxy.strikes() === 1)
      // It finds the object of the put, whose answer is not there yet, or waits for it.
      const renaming = store.rename?.(key, to)
      const next = store.put(key, contentOf(bytesOf(300, 5)))
      proxy.heal()
      await inTime(Promise.all([putting, renaming, next]), 'all')
      const sizes = [await direct.stat(key), await direct.stat(target)].map((info) => info?.size)
      // It was published before the rename or after it.
      expect(sizes, 'the last put').to.include(300)
    }))
})
