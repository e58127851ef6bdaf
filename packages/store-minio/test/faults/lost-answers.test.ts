import { describeWithMinio } from '@holdfast/testing/minio'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { bytesOf, contentOf, expectOneOf, key, MiB, read } from './blobs.ts'
import type { Fault } from './fault-proxy.ts'
import {
  expectUnavailable,
  failureOf,
  inTime,
  withFaultyStore,
  type FaultyStore,
} from './faulty-store.ts'

const ours = { small: bytesOf(100_000, 2), large: bytesOf(9 * MiB, 3) }
const theirs = bytesOf(1000, 4)
const earlier = bytesOf(500, 5)

/** The request that publishes a blob of each size. */
const publication = { small: /x-id=PutObject/, large: /^POST .*\?uploadId=/ }
const deletion = /^DELETE /

describeWithMinio('openMinioBlobStore, where an answer is lost', (minio) => {
  /** The server has carried the request out, and says nothing, until `heal` breaks the connection. */
  const silence = (request: RegExp): Fault => ({
    ...{ kind: 'stall', direction: 'answer', position: 'first byte' },
    ...{ request, times: 1 },
  })
  /** Runs `call`, whose `request` is carried out; then `meanwhile`; and only then the answer is lost. */
  async function loseAnswer<T>(
    { proxy }: FaultyStore,
    request: RegExp,
    call: () => Promise<T>,
    meanwhile: () => Promise<unknown>,
  ): Promise<Promise<T>[]> {
    proxy.inject(silence(request))
    const calling = call()
    calling.catch(() => {})
    await until('the request is carried out', () => proxy.strikes() === 1)
    await meanwhile()
    proxy.heal()
    return [calling]
  }

  for (const size of ['small', 'large'] as const) {
    const bytes = ours[size]
    const request = publication[size]
    describe(`of a put of a ${size} blob`, () => {
      for (const createOnly of [false, true]) {
        const put = ({ store }: FaultyStore) => store.put(key, contentOf(bytes), { createOnly })
        const how = createOnly ? ', create-only' : ''

        it(`knows its blob again${how}`, () =>
          withFaultyStore(minio(), {}, async (faulty) => {
            const none = async () => {}
            const [putting] = await loseAnswer(faulty, request, () => put(faulty), none)
            const info = await inTime(putting!, 'put')
            expect(await faulty.direct.stat(key)).to.deep.equal(info)
            await expectOneOf(faulty.direct, bytes)
          }))

        it(`leaves what another has put since${how}`, () =>
          withFaultyStore(minio(), {}, async (faulty) => {
            const { direct } = faulty
            const replace = () => direct.put(key, contentOf(theirs))
            const [putting] = await loseAnswer(faulty, request, () => put(faulty), replace)
            await expectUnavailable(putting!, 'put')
            await expectOneOf(direct, theirs)
          }))

        // What is completed once cannot come back: it would only wait for seconds.
        if (size === 'large') continue
        it(`does not bring back what a deletion through the same store has removed${how}`, () =>
          withFaultyStore(minio(), {}, async (faulty) => {
            const { store, direct } = faulty
            const remove = async () => expect(await store.delete(key)).to.equal(true)
            const [putting] = await loseAnswer(faulty, request, () => put(faulty), remove)
            await expectUnavailable(putting!, 'put')
            expect(await read(direct)).to.equal(undefined)
          }))
      }

      it('repeats what has not been carried out, in place of the earlier blob', () =>
        withFaultyStore(minio(), {}, async ({ store, direct, proxy }) => {
          await direct.put(key, contentOf(earlier))
          const cut = { kind: 'cut', direction: 'request', position: 'body' } as const
          proxy.inject({ ...cut, request, times: 1 })
          await inTime(store.put(key, contentOf(bytes)), 'put')
          expect(proxy.strikes()).to.equal(1)
          await expectOneOf(direct, bytes)
        }))
    })
  }

  it('does not bring back, over an earlier one, what another store has removed', () =>
    withFaultyStore(minio(), {}, async (faulty) => {
      const { store, direct } = faulty
      await direct.put(key, contentOf(earlier))
      const put = () => store.put(key, contentOf(ours.small))
      const remove = async () => expect(await direct.delete(key)).to.equal(true)
      const [putting] = await loseAnswer(faulty, publication.small, put, remove)
      await expectUnavailable(putting!, 'put')
      expect(await read(direct)).to.equal(undefined)
    }))

  it('says already-exists only of a blob that was there before', () =>
    withFaultyStore(minio(), {}, async (faulty) => {
      const { store, direct, proxy } = faulty
      await direct.put(key, contentOf(earlier))
      const put = () => store.put(key, contentOf(ours.small), { createOnly: true })
      const [putting] = await loseAnswer(faulty, publication.small, put, async () => {})
      expect(await failureOf(putting!, 'put')).to.have.property('code', 'already-exists')
      expect(proxy.strikes()).to.equal(1)
      await expectOneOf(direct, earlier)
    }))

  describe('of a deletion', () => {
    const remove = ({ store }: FaultyStore) => store.delete(key)

    it('says true of what is gone', () =>
      withFaultyStore(minio(), {}, async (faulty) => {
        await faulty.direct.put(key, contentOf(earlier))
        const none = async () => {}
        const [deleting] = await loseAnswer(faulty, deletion, () => remove(faulty), none)
        expect(await inTime(deleting!, 'delete')).to.equal(true)
        expect(await read(faulty.direct)).to.equal(undefined)
      }))

    for (const createOnly of [false, true]) {
      it(`leaves what another has put since${createOnly ? ', create-only' : ''}`, () =>
        withFaultyStore(minio(), {}, async (faulty) => {
          const { direct } = faulty
          await direct.put(key, contentOf(earlier))
          const put = () => direct.put(key, contentOf(theirs), { createOnly })
          const [deleting] = await loseAnswer(faulty, deletion, () => remove(faulty), put)
          await expectUnavailable(deleting!, 'delete')
          await expectOneOf(direct, theirs)
        }))
    }

    it('repeats what has not been carried out', () =>
      withFaultyStore(minio(), {}, async ({ store, direct, proxy }) => {
        await direct.put(key, contentOf(earlier))
        const cut = { kind: 'cut', direction: 'request', position: 'head' } as const
        proxy.inject({ ...cut, request: deletion, times: 1 })
        expect(await inTime(store.delete(key), 'delete')).to.equal(true)
        expect(proxy.strikes()).to.equal(1)
        expect(await read(direct)).to.equal(undefined)
      }))
  })
})
