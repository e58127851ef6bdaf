import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { FileServiceError } from '../../src/model/errors.ts'
import { arrayOf, chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { resumableFixture, resumableOf, served, sha256Of } from './resumable-fixture.ts'

describe('resumable', () => {
  it('publishes the file when its length is reached, and not before', async () => {
    const { files, resumable } = resumableFixture()
    const { id, offset, expiresAt } = await resumable.begin('a', { length: 6, note: 'n' })
    expect(offset).to.equal(0)
    const inSevenDays = Date.now() + 7 * 24 * 3600 * 1000
    expect(expiresAt.getTime()).to.be.closeTo(inSevenDays, 60_000)
    const first = await resumable.append(id, 0, 'abc')
    expect(first).to.deep.include({ id, offset: 3 }).and.not.to.have.property('published')
    expect(first.plan).to.deep.include({ name: 'a', length: 6, note: 'n' })
    expect(await refusal(files.stat('a'))).to.equal('not-found')
    const last = await resumable.append(id, 3, 'def')
    expect(last).to.deep.include({ offset: 6, published: await files.stat('a') })
    expect(await served(files, 'a')).to.equal('abcdef')
  })

  it('is left out where the store keeps no uploads in pieces', async () => {
    const { resumable: _left, ...store } = createMemoryBlobStore()
    const service = createFileService({ store })
    expect(service.filesOf({ name: 'alice' })).not.to.have.property('resumable')
    expect(await service.sweepUploads()).to.equal(0)
  })

  it('computes the digest of what has arrived once for each offset, and not to its end if that was given up', async () => {
    let read = 0
    const leave = new AbortController()
    const { resumable } = resumableFixture({
      change: (uploads) => ({
        async *content(key) {
          for await (const chunk of uploads.content(key)) {
            read += chunk.length
            yield chunk
            leave.abort(new Error('left'))
          }
        },
      }),
    })
    const { id } = await resumable.begin('a', { length: 9 })
    await resumable.append(id, 0, chunks('abc', 'def'))
    expect(await rejection(resumable.digest(id, 6, { signal: leave.signal }))).to.be.an('error')
    for (const _time of [1, 2]) expect(await resumable.digest(id, 6)).to.equal(sha256Of('abcdef'))
    expect(await resumable.digest(id, 2)).to.equal(sha256Of('ab'))
    expect(read).to.equal(6 + 6 + 6)
  })

  it("knows nothing of another customer's uploads", async () => {
    const { service, resumable } = resumableFixture()
    const { id } = await resumable.begin('a', { length: 3 })
    const ofBob = resumableOf(service.filesOf({ name: 'bob' }))
    expect(await refusal(ofBob.state(id))).to.equal('upload-not-found')
    expect(await refusal(ofBob.append(id, 0, 'abc'))).to.equal('upload-not-found')
    expect(await refusal(ofBob.publish(id))).to.equal('upload-not-found')
    expect(await refusal(ofBob.discard(id))).to.equal('upload-not-found')
    expect(await arrayOf(ofBob.list())).to.deep.equal([])
    expect((await resumable.state(id)).offset).to.equal(0)
  })

  for (const id of ['', 'short', '../../../../etc/passwd', 'x'.repeat(65), 'a b'.repeat(10)]) {
    it(`does not ask the store for ${JSON.stringify(id)}`, async () => {
      const asked: string[] = []
      const { resumable } = resumableFixture({
        change: () => ({
          state: async () => void asked.push('state'),
          interrupt: async () => void asked.push('interrupt'),
          discard: async () => asked.push('discard') < 0,
        }),
      })
      expect(await refusal(resumable.state(id))).to.equal('upload-not-found')
      expect(await refusal(resumable.append(id, 0, 'a'))).to.equal('upload-not-found')
      expect(await refusal(resumable.publish(id))).to.equal('upload-not-found')
      expect(await refusal(resumable.discard(id))).to.equal('upload-not-found')
      expect(asked).to.deep.equal([])
    })
  }

  it('lists unfinished uploads, and drops them', async () => {
    const { resumable, files } = resumableFixture()
    const { id } = await resumable.begin('a')
    await resumable.begin('done', { length: 0 })
    const listed = (await arrayOf(resumable.list())).flat()
    expect(listed.map((upload) => upload.id)).to.deep.equal([id])
    await resumable.discard(id)
    expect(await refusal(resumable.state(id))).to.equal('upload-not-found')
    expect(await refusal(resumable.discard(id))).to.equal('upload-not-found')
    expect(await arrayOf(resumable.list())).to.deep.equal([])
    expect(await served(files, 'done')).to.equal('')
  })

  it('removes what has expired by its own clock', async () => {
    let time = Date.now()
    const { resumable, service } = resumableFixture({ uploadExpiryMs: 1000, now: () => time })
    const { id, plan } = await resumable.begin('a')
    expect(plan.expiresAfterMs).to.equal(1000)
    time += 60_000
    expect(await service.sweepUploads()).to.equal(1)
    expect(await service.sweepUploads()).to.equal(0)
    expect(await refusal(resumable.state(id))).to.equal('upload-not-found')
  })

  describe('begin', () => {
    it('publishes a file without a byte at once', async () => {
      const { resumable, files } = resumableFixture()
      const { published } = await resumable.begin('a', { length: 0, sha256: sha256Of('') })
      expect(published).to.deep.equal(await files.stat('a'))
    })

    it('leaves nothing of a file without a byte that it cannot publish', async () => {
      const { resumable } = resumableFixture()
      const begin = resumable.begin('a', { length: 0, sha256: sha256Of('x') })
      expect(await refusal(begin)).to.equal('digest-mismatch')
      const error = new FileServiceError('store-unavailable', 'on purpose')
      const failing = resumableFixture({ change: () => ({ publish: () => Promise.reject(error) }) })
      expect(await rejection(failing.resumable.begin('a', { length: 0 }))).to.equal(error)
      expect(await arrayOf(failing.resumable.list())).to.deep.equal([])
    })

    it('refuses a bad name, a taken one, and more than the largest file', async () => {
      const { resumable, files } = resumableFixture({ maxFileSize: 10 })
      await files.upload('taken', 'x')
      expect(await refusal(resumable.begin('a/b'))).to.equal('invalid-file-name')
      expect(await refusal(resumable.begin('a', { length: 11 }))).to.equal('file-too-large')
      const createOnly = resumable.begin('taken', { createOnly: true })
      expect(await refusal(createOnly)).to.equal('already-exists')
      expect(await arrayOf(resumable.list())).to.deep.equal([])
      await resumable.begin('taken', { length: 10 })
    })

    const wrong = {
      'a length below 0': { length: -1 },
      'a length with a fraction': { length: 1.5 },
      'a length beyond all numbers': { length: Infinity },
      'a digest that is too short': { sha256: 'abc' },
      'a digest in upper case': { sha256: sha256Of('').toUpperCase() },
      'a note that is too long': { note: '€'.repeat(1366) },
      'a note that is no Unicode': { note: '\ud800' },
    }
    for (const [what, options] of Object.entries(wrong)) {
      it(`refuses ${what}`, async () => {
        const { resumable } = resumableFixture()
        expect(await rejection(resumable.begin('a', options))).to.be.instanceOf(RangeError)
      })
    }

    it('refuses a digest where it has no hash to check it', async () => {
      const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'a' })
      const begin = resumableOf(files).begin('a', { sha256: sha256Of('') })
      expect(await rejection(begin))
        .to.be.instanceOf(TypeError)
        .with.property('message')
        .that.matches(/createSha256/u)
    })
  })

  describe('publish', () => {
    it('publishes an upload without a length, and again gives the same', async () => {
      const { resumable } = resumableFixture()
      const { id } = await resumable.begin('a')
      await resumable.append(id, 0, 'abc')
      const { published, offset } = await resumable.publish(id)
      expect(offset).to.equal(3)
      expect((await resumable.publish(id)).published).to.deep.equal(published)
      expect((await resumable.state(id)).published).to.deep.equal(published)
    })

    for (const what of ['deleted', 'replaced'] as const) {
      it(`knows an upload no more whose file was ${what}, and does not bring it back`, async () => {
        const { resumable, files } = resumableFixture()
        const { id } = await resumable.begin('a', { length: 3 })
        await resumable.append(id, 0, 'abc')
        if (what === 'deleted') await files.delete('a')
        else await files.upload('a', 'ABC')
        const requests = [
          resumable.state(id),
          resumable.append(id, 3, ''),
          resumable.append(id, 0, 'abc'),
        ]
        for (const request of requests) expect(await refusal(request)).to.equal('upload-not-found')
        expect((await resumable.publish(id)).published).to.include({ name: 'a', size: 3 })
        expect(await refusal(resumable.discard(id))).to.equal('upload-not-found')
        if (what === 'deleted') expect(await refusal(files.stat('a'))).to.equal('not-found')
        else expect(await served(files, 'a')).to.equal('ABC')
      })
    }

    it('refuses before the length is reached', async () => {
      const { resumable } = resumableFixture()
      const { id } = await resumable.begin('a', { length: 4 })
      await resumable.append(id, 0, 'abc')
      expect(await refusal(resumable.publish(id))).to.equal('upload-conflict')
      expect((await resumable.state(id)).offset).to.equal(3)
    })

    it('compares the digest of the whole, and discards what differs', async () => {
      const { resumable, files } = resumableFixture()
      const right = await resumable.begin('a', { sha256: sha256Of('abcdef'), length: 6 })
      await resumable.append(right.id, 0, 'abc')
      await resumable.append(right.id, 3, 'def')
      expect(await served(files, 'a')).to.equal('abcdef')
      const wrong = await resumable.begin('a', { sha256: sha256Of('xyz') })
      await resumable.append(wrong.id, 0, 'abc')
      expect(await refusal(resumable.publish(wrong.id))).to.equal('digest-mismatch')
      expect(await refusal(resumable.state(wrong.id))).to.equal('upload-not-found')
      expect(await served(files, 'a')).to.equal('abcdef')
    })

    for (const [what, straight] of [
      ['by the service', false],
      ['by another process', true],
    ] as const) {
      it(`publishes no byte that is appended ${what} after its digest was checked`, async () => {
        const late: Promise<unknown>[] = []
        const { resumable, files } = resumableFixture({
          change: (uploads) => ({
            async *content(key) {
              yield* uploads.content(key)
              const append = straight
                ? uploads.append(key, 3, chunks('more'))
                : resumable.append(key.id, 3, 'more')
              late.push(append.catch(() => {}))
              await late[0]
            },
          }),
        })
        const { id } = await resumable.begin('a', { sha256: sha256Of('abc') })
        await resumable.append(id, 0, 'abc')
        await resumable.publish(id).catch(() => {})
        expect(late).to.have.length(1)
        const content = await served(files, 'a').catch(() => 'abc')
        expect(content).to.equal('abc')
      })
    }

    it('refuses a taken name where it should create, and keeps the upload', async () => {
      const { resumable, files } = resumableFixture()
      const { id } = await resumable.begin('a', { createOnly: true, length: 3 })
      await files.upload('a', 'other')
      expect(await refusal(resumable.append(id, 0, 'abc'))).to.equal('already-exists')
      await files.delete('a')
      expect((await resumable.append(id, 3, '')).published?.size).to.equal(3)
    })

    it('can be tried again after a failure', async () => {
      const error = new FileServiceError('store-unavailable', 'on purpose')
      let failures = 1
      const { resumable, files } = resumableFixture({
        change: (uploads) => ({
          publish: (key) => (failures-- > 0 ? Promise.reject(error) : uploads.publish(key)),
        }),
      })
      const { id } = await resumable.begin('a', { length: 3 })
      expect(await rejection(resumable.append(id, 0, 'abc'))).to.equal(error)
      expect((await resumable.state(id)).offset).to.equal(3)
      await resumable.append(id, 3, '')
      expect(await served(files, 'a')).to.equal('abc')
    })
  })

  describe('hooks', () => {
    it('report an upload once, when it is published', async () => {
      const uploaded: string[] = []
      const { resumable } = resumableFixture({
        hooks: {
          onUploaded: ({ customer, file }) => uploaded.push(`${customer.name} ${file.name}`),
        },
      })
      const { id } = await resumable.begin('a')
      await resumable.append(id, 0, 'abc')
      expect(uploaded).to.deep.equal([])
      await Promise.all([resumable.publish(id), resumable.publish(id), resumable.publish(id)])
      await resumable.publish(id)
      expect(uploaded).to.deep.equal(['alice a'])
    })

    it('do not report what was discarded', async () => {
      const uploaded: unknown[] = []
      const hooks = { onUploaded: (upload: unknown) => uploaded.push(upload) }
      const { resumable } = resumableFixture({ hooks })
      const { id } = await resumable.begin('a', { sha256: sha256Of('x'), length: 3 })
      expect(await refusal(resumable.append(id, 0, 'abc'))).to.equal('digest-mismatch')
      expect(uploaded).to.deep.equal([])
    })
  })
})
