import { FileServiceError, type ResumableUploads, type UploadKey } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { createFaults, injectFaults } from '../../src/faults.ts'
import { collect, expectBlob, rejection } from '../../src/support/expectations.ts'
import { pattern, chunks } from '../../src/support/content.ts'
import {
  begin,
  expectBytes,
  key,
  longAfter,
  planOf,
  uploadsOf,
} from '../../src/support/resumable-harness.ts'

const error = new FileServiceError('store-unavailable', 'on purpose')

/** Faults over a memory store in which an upload has five bytes. */
async function openFaulty() {
  const inner = createMemoryBlobStore()
  const upload = await begin(uploadsOf(inner), { expiresAfterMs: 60_000 })
  await uploadsOf(inner).append(upload, 0, chunks(pattern(5)))
  const faults = createFaults()
  return { inner, upload, faults, uploads: uploadsOf(injectFaults(inner, faults)) }
}

const published = { name: key.name, size: 5, modifiedAt: new Date(0), etag: 'x' }

const more = () => chunks(pattern(2, { offset: 5 }), pattern(1, { offset: 7 }))

/** Every method, to its end, and the moments that it passes. */
const calls: Readonly<
  Record<
    keyof ResumableUploads,
    readonly [(uploads: ResumableUploads, upload: UploadKey) => Promise<unknown>, string]
  >
> = {
  begin: [(uploads) => uploads.begin('alice', planOf()), 'call answer'],
  state: [(uploads, upload) => uploads.state(upload), 'call answer'],
  append: [(uploads, upload) => uploads.append(upload, 5, more()), 'call item item end answer'],
  interrupt: [(uploads, upload) => uploads.interrupt(upload), 'call answer'],
  declareLength: [(uploads, upload) => uploads.declareLength(upload, 9), 'call answer'],
  content: [(uploads, upload) => collect(uploads.content(upload)), 'call item end'],
  publish: [(uploads, upload) => uploads.publish(upload), 'call answer'],
  remember: [(uploads) => uploads.remember('alice', planOf(), published), 'call answer'],
  discard: [(uploads, upload) => uploads.discard(upload), 'call answer'],
  list: [(uploads) => collect(uploads.list('alice')), 'call item end'],
  sweep: [(uploads) => uploads.sweep(longAfter()), 'call answer'],
}

describe('injectFaults into resumable', () => {
  for (const [name, [call, moments]] of Object.entries(calls)) {
    const method = `resumable.${name}`

    it(`passes the steps of ${method} in order`, async () => {
      const { faults, uploads, upload } = await openFaulty()
      await call(uploads, upload)
      expect(faults.steps()).to.deep.equal(moments.split(' ').map((moment) => ({ method, moment })))
      expect(faults.underWay()).to.equal(0)
    })

    it(`fails each step of ${method} with that very error, and holds nothing`, async () => {
      for (const [index, moment] of moments.split(' ').entries()) {
        const { faults, uploads, upload } = await openFaulty()
        faults.plan({ nth: index + 1, error })
        expect(await rejection(call(uploads, upload))).to.equal(error)
        expect(faults.struck()).to.deep.equal([{ method, moment }])
        expect(faults.underWay()).to.equal(0)
      }
    })
  }

  it('lets what came before a fault in the content count', async () => {
    for (const [nth, size] of [5, 5, 7, 8, 8].entries()) {
      const { inner, faults, uploads, upload } = await openFaulty()
      faults.plan({ nth: nth + 1, error })
      expect(await rejection(uploads.append(upload, 5, more()))).to.equal(error)
      await expectBytes(uploadsOf(inner), upload, pattern(size))
    }
  })

  it('publishes the blob and loses the answer', async () => {
    const { inner, faults, uploads, upload } = await openFaulty()
    faults.plan({ nth: 1, only: { moment: 'answer' }, error })
    expect(await rejection(uploads.publish(upload))).to.equal(error)
    await expectBlob(inner, key, pattern(5))
  })

  it('ends an append that is held when it is interrupted', async () => {
    for (const moment of ['item', 'end'] as const) {
      const { faults, uploads, upload } = await openFaulty()
      const struck = Promise.withResolvers<undefined>()
      const onStrike = () => struck.resolve(undefined)
      faults.plan({ nth: 1, only: { moment }, hold: new Promise(() => {}), onStrike })
      const append = rejection(uploads.append(upload, 5, more()))
      await struck.promise
      await uploads.interrupt(upload)
      expect(await append).to.have.property('code', 'upload-conflict')
      expect(faults.underWay()).to.equal(0)
    }
  })

  it('is left out where the store keeps no uploads in pieces', () => {
    const { resumable: _left, ...store } = createMemoryBlobStore()
    expect(injectFaults(store, createFaults())).not.to.have.property('resumable')
  })
})
