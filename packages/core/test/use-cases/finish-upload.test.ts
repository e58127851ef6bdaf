import { expect } from 'chai'
import { FileServiceError } from '../../src/model/errors.ts'
import type { ResumableUploads } from '../../src/ports/resumable-uploads.ts'
import { chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { resumableFixture, resumableOf, served, sha256Of } from './resumable-fixture.ts'

const sha256 = sha256Of('abc')

/** Uploads whose contents are counted when they are read, each after `gate`. */
function countReads(change: (uploads: ResumableUploads) => Partial<ResumableUploads> = () => ({})) {
  const counted = { reads: 0, gate: Promise.resolve<undefined>(undefined) }
  const fixture = resumableFixture({
    change: (uploads) => ({
      async *content(key) {
        counted.reads++
        await counted.gate
        yield* uploads.content(key)
      },
      ...change(uploads),
    }),
  })
  return Object.assign(fixture, { counted })
}

describe('finishUpload, of an upload with a digest', () => {
  it('reads nothing where the upload only creates, and the name is taken', async () => {
    const { files, resumable, counted } = countReads()
    const { id } = await resumable.begin('a', { length: 3, createOnly: true, sha256 })
    await files.upload('a', 'other')
    expect(await refusal(resumable.append(id, 0, 'abc'))).to.equal('already-exists')
    for (let n = 0; n < 3; n++)
      expect(await refusal(resumable.publish(id))).to.equal('already-exists')
    expect(counted.reads).to.equal(0)
    await files.delete('a')
    await resumable.publish(id)
    expect([await served(files, 'a'), counted.reads]).to.deep.equal(['abc', 1])
  })

  it('finds what another process has published meanwhile, and reads nothing', async () => {
    let isFirst = true
    const { files, resumable, uploads, counted } = countReads((inner) => ({
      async state(key) {
        const found = await inner.state(key)
        if (found?.offset === 3 && isFirst) {
          isFirst = false
          await inner.publish(key)
        }
        return found
      },
    }))
    const { id } = await resumable.begin('a', { length: 3, createOnly: true, sha256 })
    await uploads.append({ customer: 'alice', id }, 0, chunks('abc'))
    const { published, isPublishedNow } = await resumable.publish(id)
    expect(published).to.deep.equal(await files.stat('a'))
    expect([isPublishedNow, counted.reads]).to.deep.equal([undefined, 0])
  })

  it('reads nothing where there is no room for one more file', async () => {
    const { service, counted } = countReads()
    const files = service.filesOf({ name: 'bob', maxFiles: 1 })
    const resumable = resumableOf(files)
    const { id } = await resumable.begin('a', { length: 3, sha256 })
    await resumable.append(id, 0, 'abc', { isPartial: true })
    await files.upload('b', 'other')
    for (let n = 0; n < 3; n++)
      expect(await refusal(resumable.publish(id))).to.equal('quota-exceeded')
    expect(counted.reads).to.equal(0)
  })

  it('reads the content once, however often the store cannot publish it', async () => {
    let isFull = true
    const { files, resumable, counted } = countReads((inner) => ({
      async publish(key) {
        if (isFull) throw new FileServiceError('insufficient-storage', 'full')
        return inner.publish(key)
      },
    }))
    const { id } = await resumable.begin('a', { length: 3, sha256 })
    expect(await refusal(resumable.append(id, 0, 'abc'))).to.equal('insufficient-storage')
    for (let n = 0; n < 3; n++) {
      expect(await refusal(resumable.publish(id))).to.equal('insufficient-storage')
    }
    isFull = false
    await resumable.publish(id)
    expect([await served(files, 'a'), counted.reads]).to.deep.equal(['abc', 1])
  })

  it('leaves the queue when its signal aborts, while another call reads', async () => {
    const { files, resumable, uploads, counted } = countReads()
    const { id } = await resumable.begin('a', { length: 3, sha256 })
    await uploads.append({ customer: 'alice', id }, 0, chunks('abc'))
    const gate = Promise.withResolvers<undefined>()
    counted.gate = gate.promise
    const first = resumable.publish(id)
    await turn()
    const reason = new Error('left')
    const leaving = new AbortController()
    const others = [1, 2].map(() => rejection(resumable.publish(id, { signal: leaving.signal })))
    await turn()
    leaving.abort(reason)
    expect(await Promise.all(others)).to.deep.equal([reason, reason])
    expect(await rejection(resumable.publish(id, { signal: leaving.signal }))).to.equal(reason)
    gate.resolve(undefined)
    expect((await first).isPublishedNow).to.equal(true)
    expect([await served(files, 'a'), counted.reads]).to.deep.equal(['abc', 1])
  })

  it('keeps what it has computed where its signal aborts meanwhile, and publishes nothing', async () => {
    const { files, resumable, uploads, counted } = countReads()
    const { id } = await resumable.begin('a', { length: 3, sha256 })
    await uploads.append({ customer: 'alice', id }, 0, chunks('abc'))
    const gate = Promise.withResolvers<undefined>()
    counted.gate = gate.promise
    const leaving = new AbortController()
    const first = rejection(resumable.publish(id, { signal: leaving.signal }))
    await turn()
    const reason = new Error('left')
    leaving.abort(reason)
    gate.resolve(undefined)
    expect(await first).to.equal(reason)
    expect(await refusal(files.stat('a'))).to.equal('not-found')
    await resumable.publish(id)
    expect([await served(files, 'a'), counted.reads]).to.deep.equal(['abc', 1])
  })
})
