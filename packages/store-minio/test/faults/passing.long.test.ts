// Each of some 70 faults has a store of its own.
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { bytesOf, contentOf, expectOneOf, key, MiB, read } from './blobs.ts'
import { eachAtOnce } from './each-at-once.ts'
import type { Fault, FaultKind, Position } from './fault-proxy.ts'
import {
  expectSwept,
  expectUnavailable,
  failureOf,
  inTime,
  withFaultyStore,
} from './faulty-store.ts'

const small = bytesOf(100_000, 2)
const large = bytesOf(20 * MiB, 3)
const twoParts = bytesOf(9 * MiB, 3)
/** The server can send it before it is read. While the server sends an object, no one can replace or delete it. */
const sentAtOnce = bytesOf(MiB, 3)
const kinds: readonly FaultKind[] = ['cut', 'reset', 'stall']
/** Short only where it is waited for: on a busy machine a server may well be silent for so long. */
const idleTimeouts = { cut: 20_000, reset: 20_000, stall: 5000 } as const
const idleTimeoutMs = idleTimeouts.cut
const getObject = /^GET [^?]*(?: HTTP|\?x-id=GetObject)/

/** Requests of which every kind is tried again. */
const requests = {
  'the one request of a put': /x-id=PutObject/,
  'the beginning of an upload': /^POST .*\?uploads/,
  'a part': /x-id=UploadPart.*partNumber=2/,
  'the completion of an upload': /^POST .*\?uploadId=/,
}

describeWithMinio('openMinioBlobStore on a way that breaks once', function (minio) {
  describe('put', function () {
    this.timeout(120_000)
    const positions: readonly Pick<Fault, 'direction' | 'position'>[] = [
      { direction: 'request', position: 'body' },
      { direction: 'answer', position: 'first byte' },
      { direction: 'answer', position: 'head' },
    ]
    const cells = Object.entries(requests).flatMap(([what, request]) =>
      positions
        .filter(({ position }) => position !== 'body' || !request.test('POST /b/k?uploads='))
        .flatMap((where) => kinds.map((kind) => ({ what, fault: { ...where, kind, request } }))),
    )
    for (const createOnly of [false, true]) {
      eachAtOnce(
        createOnly ? cells.filter(({ fault }) => publishes(fault) && !holdsTheName(fault)) : cells,
        ({ what, fault: { kind, direction, position } }) =>
          `${createOnly ? 'creates' : 'stores'} all the same: ${kind} at the ${direction}'s ${position} of ${what}`,
        ({ fault }) =>
          withFaultyStore(minio(), { idleTimeoutMs: idleTimeouts[fault.kind] }, async (faulty) => {
            const { store, direct, proxy } = faulty
            const bytes = fault.request.test('x-id=PutObject') ? small : twoParts
            proxy.inject({ ...fault, times: 1 })
            const info = await inTime(store.put(key, contentOf(bytes), { createOnly }), 'put')
            expect(proxy.strikes()).to.equal(1)
            proxy.heal()
            await expectOneOf(direct, bytes)
            expect(await direct.stat(key)).to.deep.equal(info)
            await expectSwept(faulty)
          }),
      )
    }
  })

  describe('a put that creates only', () => {
    for (const [what, request, bytes] of [
      ['in one request', /x-id=PutObject/, small],
      ['in parts', /^POST .*\?uploadId=/, large],
    ] as const) {
      it(`says already-exists for the blob of another, after an answer was lost, ${what}`, () =>
        withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
          await direct.put(key, contentOf(small))
          proxy.inject({
            kind: 'cut',
            direction: 'answer',
            position: 'first byte',
            request,
            times: 1,
          })
          const putting = store.put(key, contentOf(bytes), { createOnly: true })
          expect(await failureOf(putting, 'put')).to.have.property('code', 'already-exists')
          expect(proxy.strikes()).to.equal(1)
          await expectOneOf(direct, small)
        }))
    }

    it('does not say already-exists of what may be its own', () =>
      withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
        // The first answer is lost; the second says that the name is taken; then there is nobody to say by whom.
        proxy.inject({
          ...{ kind: 'cut', direction: 'answer', position: 'first byte' },
          ...{ request: /x-id=PutObject/, times: 1 },
        })
        const content = contentOf(small)
        const putting = store.put(key, content, { createOnly: true })
        while (proxy.strikes() === 0) await new Promise(setImmediate)
        proxy.inject({
          kind: 'cut',
          direction: 'request',
          position: 'first byte',
          request: /^HEAD/,
        })
        await expectUnavailable(putting, 'put')
        await expectOneOf(direct, small)
      }))
  })

  describe('open', function () {
    this.timeout(120_000)
    const positions: readonly Position[] = ['first byte', 'head', 'body', 'last byte']
    eachAtOnce(
      positions.flatMap((position) => kinds.map((kind) => ({ kind, position }))),
      ({ kind, position }) => `reads every byte once: ${kind} at the answer's ${position}`,
      (where) =>
        withFaultyStore(minio(), { idleTimeoutMs: idleTimeouts[where.kind] }, async (faulty) => {
          const { store, direct, proxy } = faulty
          await direct.put(key, contentOf(large))
          proxy.inject({ ...where, direction: 'answer', request: getObject, times: 1 })
          expect((await inTime(read(store), 'reading'))?.equals(large)).to.equal(true)
          expect(proxy.strikes()).to.equal(1)
        }),
    )

    it('goes on as often as bytes have come meanwhile', () =>
      withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
        await direct.put(key, contentOf(large))
        // Each answer brings half of what is left.
        proxy.inject({
          kind: 'cut',
          direction: 'answer',
          position: 'body',
          request: getObject,
          times: 8,
        })
        expect((await inTime(read(store), 'reading'))?.equals(large)).to.equal(true)
        expect(proxy.strikes()).to.equal(8)
      }))

    it('reads a range to its end, and not beyond', () =>
      withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
        await direct.put(key, contentOf(large))
        proxy.inject({
          kind: 'reset',
          direction: 'answer',
          position: 'body',
          request: getObject,
          times: 2,
        })
        const blob = await store.open(key, { range: { first: MiB + 1, last: 17 * MiB } })
        const chunks: Uint8Array[] = []
        for await (const chunk of blob!.content) chunks.push(chunk)
        expect(Buffer.concat(chunks).equals(large.subarray(MiB + 1, 17 * MiB + 1))).to.equal(true)
        expect(proxy.strikes()).to.equal(2)
      }))

    for (const [what, change] of Object.entries({
      replaced: 'put',
      deleted: 'delete',
    } as const)) {
      it(`fails rather than mix two blobs when the blob is ${what} meanwhile`, () =>
        withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
          await direct.put(key, contentOf(sentAtOnce))
          proxy.inject({
            kind: 'cut',
            direction: 'answer',
            position: 'body',
            request: getObject,
            times: 1,
          })
          const blob = await store.open(key)
          if (change === 'put') await direct.put(key, contentOf(bytesOf(MiB, 5)))
          else await direct.delete(key)
          let offset = 0
          const reading = (async () => {
            for await (const chunk of blob!.content) {
              const expected = sentAtOnce.subarray(offset, (offset += chunk.length))
              expect(expected.equals(chunk)).to.equal(true)
            }
          })()
          await expectUnavailable(reading, 'reading')
          expect(proxy.strikes()).to.equal(1)
          expect(offset).to.be.at.least(MiB / 4)
        }))
    }
  })
})

function publishes({ request }: Fault): boolean {
  return (
    request === requests['the one request of a put'] ||
    request === requests['the completion of an upload']
  )
}

/** MinIO decides who creates before it reads the content: nobody else gets the name while half a request is stalled. */
function holdsTheName({ kind, direction, request }: Fault): boolean {
  return kind === 'stall' && direction === 'request' && request?.test('x-id=PutObject') === true
}
