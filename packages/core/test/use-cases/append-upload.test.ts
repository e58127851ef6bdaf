import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { FileServiceError } from '../../src/model/errors.ts'
import { uploadPublished } from '../../src/model/upload-rules.ts'
import { chunks, failing, pulled, type PulledContent } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { resumableFixture, resumableOf, served, sha256Of } from './resumable-fixture.ts'

/** Resolves when the first chunk of `content` has been asked for. */
async function untilAsked(content: PulledContent): Promise<void> {
  while (content.asked() === 0) await turn()
}

describe('resumable.append', () => {
  it('takes what an upload takes', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a', { length: 9 })
    await resumable.append(id, 0, new Blob(['abc']))
    await resumable.append(id, 3, new Uint8Array(Buffer.from('de')))
    await resumable.append(id, 5, chunks('fg', 'hi'))
    expect(await served(files, 'a')).to.equal('abcdefghi')
    const append = resumable.append(id, 9, 5 as never)
    expect(await rejection(append)).to.be.instanceOf(TypeError)
  })

  describe('of no bytes, to a complete upload that the store could not publish', () => {
    /** Alice's uploads in a store that fails to publish once, and then refuses appends, as one does that has begun to publish. */
    async function failedOnce() {
      let isBegun = false
      const fixture = resumableFixture({
        change: (uploads) => ({
          async publish(key) {
            if (isBegun) return uploads.publish(key)
            isBegun = true
            throw new FileServiceError('store-unavailable', 'It is away')
          },
          async append(key, ...rest) {
            if (isBegun) throw uploadPublished()
            return uploads.append(key, ...rest)
          },
        }),
      })
      const { id } = await fixture.resumable.begin('a', { length: 3 })
      const last = refusal(fixture.resumable.append(id, 0, 'abc'))
      expect(await last).to.equal('store-unavailable')
      return { ...fixture, id }
    }

    it('publishes it', async () => {
      const { resumable, files, id } = await failedOnce()
      const { published } = await resumable.append(id, 3, chunks())
      expect(published).to.deep.include({ name: 'a', size: 3 })
      expect(await served(files, 'a')).to.equal('abc')
    })

    it('is refused where it is not the last one, has bytes, or stands elsewhere', async () => {
      const { resumable, files, id } = await failedOnce()
      const appends = [
        resumable.append(id, 3, chunks(), { isPartial: true }),
        resumable.append(id, 3, chunks('', 'd')),
        resumable.append(id, 3, 'd'),
        resumable.append(id, 2, chunks()),
      ]
      for (const append of appends) expect(await refusal(append)).to.equal('upload-conflict')
      expect(await refusal(files.serve('a'))).to.equal('not-found')
    })
  })

  it('goes on from what came when the content failed', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a', { length: 6 })
    const error = new Error('the line is dead')
    const append = resumable.append(id, 0, failing(error, 'ab', 'cd'))
    expect(await rejection(append)).to.equal(error)
    expect((await resumable.state(id)).offset).to.equal(4)
    await resumable.append(id, 4, 'ef')
    expect(await served(files, 'a')).to.equal('abcdef')
  })

  it('rejects with the reason of its signal', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a')
    const reason = new Error('the client left')
    const append = resumable.append(id, 0, 'a', { signal: AbortSignal.abort(reason) })
    expect(await rejection(append)).to.equal(reason)
  })

  it('ends a stalled append, as a question for the state does', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a')
    const [first, second] = [pulled(), pulled()]
    const stalled = refusal(resumable.append(id, 0, first))
    await untilAsked(first)
    expect((await resumable.state(id)).offset).to.equal(0)
    expect(await stalled).to.equal('upload-conflict')
    const another = refusal(resumable.append(id, 0, second))
    await untilAsked(second)
    expect((await resumable.append(id, 0, 'abc')).offset).to.equal(3)
    expect(await another).to.equal('upload-conflict')
  })

  it('asks the store for nothing but the append, until the last one', async () => {
    const asked: string[] = []
    const noting =
      <Call extends unknown[], Result>(name: string, method: (...call: Call) => Result) =>
      (...call: Call) => {
        asked.push(name)
        return method(...call)
      }
    const { resumable } = resumableFixture({
      change: (uploads) => ({
        state: noting('state', (key) => uploads.state(key)),
        append: noting('append', (...call) => uploads.append(...call)),
        interrupt: noting('interrupt', (key) => uploads.interrupt(key)),
        publish: noting('publish', (key) => uploads.publish(key)),
      }),
    })
    const { id } = await resumable.begin('a', { length: 9 })
    asked.length = 0
    await resumable.append(id, 0, 'abc')
    await resumable.append(id, 3, 'def')
    expect(asked).to.deep.equal(['append', 'append'])
    await resumable.append(id, 6, 'ghi')
    expect(asked.slice(2)).to.deep.equal(['append', 'interrupt', 'state', 'publish'])
  })

  it('reports how far the upload is', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    const offsets: number[] = []
    const onState = ({ offset }: { readonly offset: number }) => void offsets.push(offset)
    const appended = await resumable.append(id, 3, chunks('d', 'ef'), { onState })
    expect(offsets).to.deep.equal([3, 4, 6])
    expect(appended).to.deep.equal(await resumable.state(id))
  })

  it('refuses another offset, and anything after the end', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a', { length: 3 })
    expect(await refusal(resumable.append(id, 1, 'a'))).to.equal('upload-conflict')
    expect(await rejection(resumable.append(id, 0.5, 'a'))).to.be.instanceOf(RangeError)
    await resumable.append(id, 0, 'abc')
    expect(await refusal(resumable.append(id, 3, ''))).to.equal('upload-conflict')
    expect(await refusal(resumable.append(id, 0, 'abc'))).to.equal('upload-conflict')
  })

  it('refuses more bytes than the length, before it reads them where it knows', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a', { length: 3 })
    const content = pulled()
    const announced = resumable.append(id, 0, content, { size: 4 })
    expect(await refusal(announced)).to.equal('file-too-large')
    expect(content.asked()).to.equal(0)
    expect(await refusal(resumable.append(id, 0, 'abcd'))).to.equal('file-too-large')
    expect((await resumable.state(id)).offset).to.equal(0)
    const late = resumable.append(id, 0, chunks('ab', 'cd'))
    expect(await refusal(late)).to.equal('file-too-large')
    expect((await resumable.state(id)).offset).to.equal(2)
  })

  it('refuses more bytes than the largest file has, all pieces together', async () => {
    const { resumable } = resumableFixture({ maxFileSize: 5 })
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    expect(await refusal(resumable.append(id, 3, 'def'))).to.equal('file-too-large')
    expect(await refusal(resumable.append(id, 3, chunks('def')))).to.equal('file-too-large')
    expect(await refusal(resumable.append(id, 3, '', { length: 6 }))).to.equal('file-too-large')
    await resumable.append(id, 3, 'de', { length: 5 })
  })

  it('takes the length with any piece, once', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    const { plan } = await resumable.append(id, 3, 'd', { length: 6 })
    expect(plan.length).to.equal(6)
    expect(await refusal(resumable.append(id, 4, 'e', { length: 7 }))).to.equal('upload-conflict')
    const { published } = await resumable.append(id, 4, 'ef', { length: 6 })
    expect(published?.size).to.equal(6)
    expect(await served(files, 'a')).to.equal('abcdef')
  })

  it('declares no length by a piece with another offset', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    for (const offset of [2, 4]) {
      const append = resumable.append(id, offset, 'd', { length: 9 })
      expect(await refusal(append)).to.equal('upload-conflict')
    }
    expect((await resumable.state(id)).plan.length).to.equal(undefined)
    const { published } = await resumable.append(id, 3, 'd', { length: 4 })
    expect(published?.size).to.equal(4)
  })

  it('declares no length by a piece that is longer than it', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    expect(await refusal(resumable.append(id, 3, 'def', { length: 5 }))).to.equal('file-too-large')
    expect((await resumable.state(id)).plan.length).to.equal(undefined)
    await resumable.append(id, 3, 'def', { length: 6 })
    expect(await served(files, 'a')).to.equal('abcdef')
  })

  it('declares no length by a piece beyond the quota, and counts what a piece with a length claims once', async () => {
    const { service } = resumableFixture()
    const files = service.filesOf({ name: 'alice', quota: 6 })
    const resumable = resumableOf(files)
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    expect(await refusal(resumable.append(id, 3, 'defg', { length: 7 }))).to.equal('quota-exceeded')
    expect((await resumable.state(id)).plan.length).to.equal(undefined)
    await resumable.append(id, 3, 'd', { length: 6 })
    await resumable.append(id, 4, 'ef')
    expect(await served(files, 'a')).to.equal('abcdef')
    await files.delete('a')
    await files.upload('b', chunks('abcdef'))
  })

  it('frees what a piece claims whose length the store cannot declare', async () => {
    const away = new FileServiceError('store-unavailable', 'It is away')
    const { service } = resumableFixture({
      change: () => ({ declareLength: () => Promise.reject(away) }),
    })
    const resumable = resumableOf(service.filesOf({ name: 'alice', quota: 6 }))
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    const append = () => resumable.append(id, 3, 'de', { length: 5 })
    for (let count = 0; count < 3; count++) expect(await rejection(append())).to.equal(away)
    expect((await resumable.append(id, 3, 'def')).offset).to.equal(6)
  })

  it('refuses a length for a published upload, or one whose file is gone', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a', { length: 3 })
    await resumable.append(id, 0, 'abc')
    const again = () => refusal(resumable.append(id, 3, '', { length: 3 }))
    expect(await again()).to.equal('upload-conflict')
    await files.delete('a')
    expect(await again()).to.equal('upload-not-found')
  })

  it('publishes where the length turns out to be reached already', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    await resumable.append(id, 3, '', { length: 3 })
    expect(await served(files, 'a')).to.equal('abc')
  })

  it('keeps none of a piece whose digest differs', async () => {
    const { resumable } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc')
    const digest = (text: string) => ({
      hash: createHash('sha256'),
      expected: () => sha256Of(text),
    })
    const wrong = resumable.append(id, 3, 'def', { digest: digest('xyz') })
    expect(await refusal(wrong)).to.equal('digest-mismatch')
    expect((await resumable.state(id)).offset).to.equal(3)
    const right = await resumable.append(id, 3, 'def', { digest: digest('def') })
    expect(right.offset).to.equal(6)
  })

  it('hands chunks back that the store has released', async () => {
    const released: Uint8Array[] = []
    const { resumable } = resumableFixture({
      change: (uploads) => ({
        append: (key, offset, content, options) => {
          options?.release?.(new Uint8Array(7))
          return uploads.append(key, offset, content, options)
        },
      }),
    })
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'abc', { release: (chunk) => released.push(chunk) })
    expect(released).to.have.length(1)
  })
})
