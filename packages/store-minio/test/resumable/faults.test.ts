import { createFileService } from '@holdfast/core'
import { describeWithMinio } from '@holdfast/testing/minio'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { bytesOf, contentOf, expectOneOf, key } from '../faults/blobs.ts'
import { eachAtOnce } from '../faults/each-at-once.ts'
import type { Fault, FaultKind } from '../faults/fault-proxy.ts'
import { expectUnavailable, failureOf, inTime, withFaultyStore } from '../faults/faulty-store.ts'
import { append, begin, cuts, expectPublished, uploadsOf, whole } from './pieces.ts'

const requests = {
  'a record': /^PUT \S*records\//,
  'a part': /^PUT \S*parts\//,
  'the beginning of the publication': /^POST \S*\?uploads/,
  'a copy': /^PUT \S*UploadPartCopy/,
  'the completion': /^POST \S*\?uploadId=/,
  'a removal': /^POST \S*\?delete/,
}

const places: readonly Pick<Fault, 'direction' | 'position'>[] = [
  { direction: 'request', position: 'head' },
  { direction: 'answer', position: 'first byte' },
]

const kinds: readonly FaultKind[] = ['cut', 'reset']

/** The server carries the request out, and its answer waits for `heal`. */
const silence = (request: RegExp): Fault => ({
  ...{ kind: 'stall', direction: 'answer', position: 'first byte' },
  ...{ request, times: 1 },
})

describeWithMinio('openMinioBlobStore, for uploads in pieces on a way that breaks', (minio) => {
  describe('once', function () {
    this.timeout(120_000)
    const cells = Object.entries(requests).flatMap(([what, request]) =>
      places.flatMap((place) =>
        kinds.map((kind) => ({ what, fault: { ...place, kind, request } })),
      ),
    )
    eachAtOnce(
      cells,
      ({ what, fault: { kind, direction, position } }) =>
        `publishes all the same: ${kind} at the ${direction}'s ${position} of ${what}`,
      ({ fault }) =>
        withFaultyStore(minio(), {}, async ({ store, direct, proxy, bucket }) => {
          const upload = await begin(store)
          proxy.inject({ ...fault, times: 1 })
          for (const [from, to] of cuts) {
            expect(await inTime(append(store, upload, from, to), 'append')).to.equal(to)
          }
          const info = await inTime(uploadsOf(store).publish(upload), 'publish')
          expect(proxy.strikes()).to.equal(1)
          proxy.heal()
          expect(await uploadsOf(direct).publish(upload)).to.deep.equal(info)
          await expectPublished(direct, minio(), bucket)
        }),
    )
  })

  it('keeps the bytes of an append whose answer was lost, after which another process went on', () =>
    withFaultyStore(minio(), {}, async ({ store, direct, proxy, bucket }) => {
      const upload = await begin(store)
      const [[, first], [, second]] = [cuts[0] ?? [0, 0], cuts[1] ?? [0, 0]]
      proxy.inject(silence(requests['a record']))
      const appending = append(store, upload, 0, first)
      appending.catch(() => {})
      await until('the record is replaced', () => proxy.strikes() === 1)
      expect(await append(direct, upload, first, second)).to.equal(second)
      proxy.heal()
      expect(await failureOf(appending, 'append')).to.have.property('code', 'upload-conflict')
      await append(direct, upload, second, whole.length)
      await uploadsOf(direct).publish(upload)
      await expectPublished(direct, minio(), bucket)
    }))

  for (const createOnly of [false, true]) {
    it(`leaves what replaced a blob whose publication lost its answer${createOnly ? ', create-only' : ''}`, () =>
      withFaultyStore(minio(), {}, async ({ store, direct, proxy }) => {
        const upload = await begin(store, createOnly)
        for (const [from, to] of cuts) await append(store, upload, from, to)
        const theirs = bytesOf(1000, 9)
        proxy.inject(silence(requests['the completion']))
        const publishing = uploadsOf(store).publish(upload)
        publishing.catch(() => {})
        await until('the blob is there', () => proxy.strikes() === 1)
        await direct.put(key, contentOf(theirs))
        proxy.heal()
        const info = await inTime(publishing, 'publish')
        expect(info).to.deep.include({ name: key.name, size: whole.length })
        expect(await uploadsOf(direct).publish(upload)).to.deep.equal(info)
        expect(await uploadsOf(store).publish(upload)).to.deep.equal(info)
        await expectOneOf(direct, theirs)
      }))
  }

  it('publishes by an empty append what it could not publish before', () =>
    withFaultyStore(minio(), {}, async ({ store, direct, proxy, bucket }) => {
      const upload = await begin(store)
      proxy.inject({
        ...{ kind: 'cut', direction: 'request', position: 'head' },
        request: requests['the completion'],
      })
      await append(store, upload, 0, whole.length)
      await expectUnavailable(uploadsOf(store).publish(upload), 'publish')
      proxy.heal()
      const { resumable } = createFileService({ store }).filesOf({ name: key.customer })
      const { published } =
        (await resumable?.append(upload.id, whole.length, contentOf(whole.subarray(0, 0)))) ?? {}
      expect(published).to.deep.include({ name: key.name, size: whole.length })
      await expectPublished(direct, minio(), bucket)
    }))

  it('removes what the loser of two processes has stored', () =>
    withFaultyStore(minio(), {}, async ({ store, direct, proxy, bucket }) => {
      const upload = await begin(store)
      const winner = Promise.withResolvers<undefined>()
      const losing = uploadsOf(store).append(
        upload,
        0,
        contentOf(bytesOf(100_000, 8), async (offset) => {
          if (offset > 0) await winner.promise
        }),
      )
      losing.catch(() => {})
      await append(direct, upload, 0, whole.length)
      winner.resolve(undefined)
      expect(await failureOf(losing, 'append')).to.have.property('code', 'upload-conflict')
      expect(proxy.strikes()).to.equal(0)
      await uploadsOf(direct).publish(upload)
      await expectPublished(direct, minio(), bucket)
    }))
})
