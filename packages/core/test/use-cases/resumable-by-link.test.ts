import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createKeyedCounter } from '../../src/model/concurrency.ts'
import { arrayOf, chunks, pulled } from '../content.ts'
import { refusal } from '../rejection.ts'
import { turn } from '../turn.ts'
import { day, startLinks, startUploads } from './links-fixture.ts'
import { resumableOf, startPieces } from './pieces-by-link-fixture.ts'

const minute = 60_000

describe('uploads in pieces by a link', () => {
  it('go on where they broke off, and are files at the end', async () => {
    const { files, reopened, names } = await startPieces('new')
    const { id } = await files.begin('new', { length: 5 })
    await files.append(id, 0, chunks(2))
    const later = await reopened()
    expect((await later.state(id)).offset).to.equal(2)
    const { published } = await later.append(id, 2, chunks(3))
    expect(published).to.include({ name: 'new', size: 5 })
    expect(await names()).to.include('new')
    expect((await later.state(id)).published).to.include({ size: 5 })
  })

  it('are for its names only, and only create', async () => {
    const { files, names } = await startPieces('in-', { isPrefix: true })
    for (const name of ['in-', 'a', 'IN-1', '']) {
      const begun = files.begin(name, { length: 1 })
      expect(await refusal(begun), name).to.equal('invalid-file-name')
      const whole = files.uploadWhole(name, chunks(1), { length: 1 })
      expect(await refusal(whole), name).to.equal('invalid-file-name')
    }
    await files.uploadWhole('in-1', chunks(1), { length: 1, createOnly: false })
    const again = files.uploadWhole('in-1', chunks(1), { length: 1 })
    expect(await refusal(again)).to.equal('already-exists')
    const { id } = await files.begin('in-2', { length: 1, createOnly: false })
    await files.uploadWhole('in-2', chunks(1), { length: 1 })
    expect(await refusal(files.append(id, 0, chunks(1)))).to.equal('already-exists')
    expect(await names()).to.deep.equal(['a', 'b', 'in-1', 'in-2'])
  })

  it('are known to this link alone, and to its customer', async () => {
    const started = await startPieces('in-', { isPrefix: true })
    const { files, uploadLink, links, service, wait } = started
    const { id } = await files.begin('in-1', { length: 5 })
    const own = service.filesOf({ name: 'alice' }).resumable
    const mine = await own?.begin('in-mine', { length: 5 })
    wait(1000)
    const { token } = await uploadLink('in-', { isPrefix: true })
    const other = resumableOf(await links.openUpload({ token, name: 'in-' }))
    for (const [uploads, foreign] of [
      [other, id],
      [other, mine?.id ?? ''],
      [files, mine?.id ?? ''],
      [files, 'x'.repeat(32)],
      [files, '../../x'],
    ] as const) {
      expect(await refusal(uploads.state(foreign))).to.equal('upload-not-found')
      expect(await refusal(uploads.append(foreign, 0, chunks(1)))).to.equal('upload-not-found')
      expect(await refusal(uploads.publish(foreign))).to.equal('upload-not-found')
      expect(await refusal(uploads.discard(foreign))).to.equal('upload-not-found')
    }
    expect((await arrayOf(files.list())).flat().map((upload) => upload.id)).to.deep.equal([id])
    expect((await arrayOf(other.list())).flat()).to.deep.equal([])
    await files.discard(id)
    expect(await refusal(files.state(id))).to.equal('upload-not-found')
    expect((await own?.state(mine?.id ?? ''))?.offset).to.equal(0)
  })

  it('are no larger than the link allows, whenever their length is known', async () => {
    const { files } = await startPieces('new', { maxSize: 5 })
    expect(await refusal(files.begin('new', { length: 6 }))).to.equal('file-too-large')
    const whole = files.uploadWhole('new', chunks(6), { length: 6 })
    expect(await refusal(whole)).to.equal('file-too-large')
    const { id } = await files.begin('new')
    expect(await refusal(files.append(id, 0, chunks(6)))).to.equal('file-too-large')
    expect(await refusal(files.append(id, 0, chunks(1), { length: 6 }))).to.equal('file-too-large')
  })

  it('are never more files than it allows, though all of them end at once', async () => {
    const { files, names } = await startPieces('in-', { isPrefix: true, maxFiles: 3 })
    const begun = []
    for (const name of ['in-1', 'in-2', 'in-3']) begun.push(await files.begin(name, { length: 1 }))
    await files.uploadWhole('in-4', chunks(1), { length: 1 })
    const ended = await Promise.allSettled(begun.map(({ id }) => files.append(id, 0, chunks(1))))
    expect(ended.filter(({ status }) => status === 'fulfilled')).to.have.length(2)
    expect((await names()).filter((name) => name.startsWith('in-'))).to.have.length(3)
    expect(await refusal(files.begin('in-5', { length: 1 }))).to.equal('quota-exceeded')
  })

  it('are unfinished in bounds: one that has not changed for long makes room, others do not', async () => {
    const { files, wait, unfinished } = await startPieces('in-', { isPrefix: true, maxFiles: 2 })
    const first = await files.begin('in-1', { length: 9 })
    wait(minute)
    const second = await files.begin('in-2', { length: 9 })
    expect(await refusal(files.begin('in-3', { length: 9 }))).to.equal('overloaded')
    wait(1)
    await files.append(first.id, 0, chunks(1))
    wait(minute)
    expect(await refusal(files.begin('in-3', { length: 9 }))).to.equal('overloaded')
    wait(minute)
    const third = await files.begin('in-3', { length: 9 })
    const left = (await unfinished()).map(({ id }) => id)
    expect(left).to.have.members([first.id, third.id])
    expect(await refusal(files.append(second.id, 0, chunks(1)))).to.equal('upload-not-found')
  })

  it('make no room while they grow, however slowly', async () => {
    const { files, wait, unfinished } = await startPieces('in-', { isPrefix: true, maxFiles: 2 })
    const growing = await files.begin('in-1', { length: 9 })
    wait(1)
    const left = await files.begin('in-2', { length: 9 })
    const slow = pulled()
    const appending = files.append(growing.id, 0, slow)
    await turn()
    slow.give(1)
    await turn()
    wait(1)
    await files.append(left.id, 0, chunks(1))
    wait(2 * minute)
    const third = await files.begin('in-3', { length: 9 })
    expect((await unfinished()).map(({ id }) => id)).to.have.members([growing.id, third.id])
    slow.give(8)
    await turn()
    slow.finish()
    expect((await appending).published).to.include({ name: 'in-1', size: 9 })
  })

  it('make no room while another service that shares the counter adds to them', async () => {
    const shared = { links: { growingUploads: createKeyedCounter() } }
    const { files, store, wait, rows, token } = await startPieces('new', {}, shared)
    const now = () => 1_000_000_000_000 + 3 * minute
    const other = await startLinks({ ...shared, store, now })
    rows.forEach((credential, name) => other.rows.set(name, credential))
    const { id } = await files.begin('new', { length: 9 })
    const slow = pulled()
    const appending = files.append(id, 0, slow)
    await turn()
    wait(3 * minute)
    const elsewhere = resumableOf(await other.links.openUpload({ token, name: 'new' }))
    expect(await refusal(elsewhere.begin('new', { length: 9 }))).to.equal('overloaded')
    slow.give(9)
    await turn()
    slow.finish()
    expect((await appending).published).to.include({ size: 9 })
  })

  it('need a counter for growingUploads', () => {
    const store = createMemoryBlobStore()
    const links = { createSignature: () => {}, growingUploads: {} } as never
    expect(() => createFileService({ store, links })).to.throw('growingUploads')
  })

  it('are not begun beyond the bound by many at once', async () => {
    const { files, unfinished } = await startPieces('in-', { isPrefix: true })
    const begun = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => files.begin(`in-${n}`, { length: 9 })),
    )
    expect(begun.filter(({ status }) => status === 'fulfilled')).to.have.length(8)
    expect(await unfinished()).to.have.length(8)
  })

  it('leave the customer all of the quota that has not arrived', async () => {
    const { files, rows, service, openUpload } = await startPieces('in-', { isPrefix: true })
    const alice = { name: 'alice', quota: 12 }
    rows.set('alice', { ...alice, passwordHash: 'hash of alice' })
    const limited = resumableOf(await openUpload())
    expect(await refusal(limited.begin('in-1', { length: 6 }))).to.equal('quota-exceeded')
    const { id } = await limited.begin('in-1', { length: 5 })
    const slow = pulled()
    const appending = limited.append(id, 0, slow, { size: 5 })
    await turn()
    slow.give(1)
    await service.filesOf(alice).upload('mine', chunks(4))
    slow.give(1)
    expect(await refusal(appending)).to.equal('quota-exceeded')
    expect(await refusal(files.append(id, 0, chunks(1)))).to.be.oneOf(['upload-conflict'])
  })

  it('take of the quota only what has arrived, also while the customer uploads', async () => {
    const { rows, service, openUpload } = await startPieces('in-', { isPrefix: true })
    const alice = { name: 'alice', quota: 12 }
    rows.set('alice', { ...alice, passwordHash: 'hash of alice' })
    const limited = resumableOf(await openUpload())
    const { id } = await limited.begin('in-1')
    const mine = pulled()
    const uploading = service.filesOf(alice).upload('mine', mine)
    await turn()
    expect((await limited.append(id, 0, chunks(2), { size: 2 })).offset).to.equal(2)
    expect((await limited.append(id, 2, chunks(2), { size: 2 })).offset).to.equal(4)
    mine.give(1)
    await turn()
    mine.finish()
    await uploading
  })

  it('end an earlier request of their own that stands still, and take no second slot', async () => {
    const { files } = await startPieces('new')
    const { id } = await files.begin('new', { length: 5 })
    const slow = pulled()
    const stalled = refusal(files.append(id, 0, slow))
    await turn()
    slow.give(2)
    await turn()
    const { offset } = await files.state(id)
    expect(await stalled).to.equal('upload-conflict')
    expect(offset).to.equal(2)
    expect((await files.append(id, 2, chunks(3))).published).to.include({ size: 5 })
  })

  it('end it, and share its slot, where the client goes on without a question', async () => {
    const { files } = await startPieces('new')
    const { id } = await files.begin('new', { length: 5 })
    const slow = pulled()
    const stalled = refusal(files.append(id, 0, slow))
    await turn()
    slow.give(2)
    await turn()
    const next = files.append(id, 2, chunks(3))
    expect(await stalled).to.equal('upload-conflict')
    expect((await next).published).to.include({ size: 5 })
  })

  it('expire with the link at the latest, which ends them at once', async () => {
    const { files, openUpload, wait, store, service } = await startPieces('new', {
      expiresInMs: minute,
    })
    const { id, expiresAt } = await files.begin('new', { length: 5 })
    expect(expiresAt.getTime()).to.equal(1_000_000_000_000 + minute)
    await files.append(id, 0, chunks(1))
    wait(minute)
    expect(await refusal(openUpload())).to.equal('link-refused')
    expect(await service.sweepUploads()).to.equal(1)
    expect(await store.resumable?.state({ customer: 'alice', id })).to.equal(undefined)
  })

  it('do not go on once the password is another one, and are the customer’s to drop', async () => {
    const { files, openUpload, add, service, unfinished, names } = await startPieces('new')
    const { id } = await files.begin('new', { length: 5 })
    await files.append(id, 0, chunks(4))
    add('alice', 'another hash')
    expect(await refusal(openUpload())).to.equal('link-refused')
    await service.filesOf({ name: 'alice' }).resumable?.discard(id)
    expect(await unfinished()).to.deep.equal([])
    expect(await names()).to.deep.equal(['a', 'b'])
  })

  it('may replace where the link may', async () => {
    const { files, service } = await startPieces('a', { replace: true })
    const { id } = await files.begin('a', { length: 7 })
    await files.append(id, 0, chunks(7))
    expect(await service.filesOf({ name: 'alice' }).stat('a')).to.include({ size: 7 })
    const only = files.begin('a', { length: 7, createOnly: true })
    expect(await refusal(only)).to.equal('already-exists')
  })

  it('are known for an hour at most where the link may replace, so that few records pile up', async () => {
    const now = 1_000_000_000_000
    const { files } = await startPieces('a', { replace: true, expiresInMs: day })
    const whole = await files.uploadWhole('a', chunks(1), { length: 1 })
    expect(whole.plan.expiresAfterMs).to.equal(60 * minute)
    const { expiresAt } = await files.begin('a', { length: 7 })
    expect(expiresAt.getTime()).to.equal(now + 60 * minute)
    const creating = await startPieces('new', { expiresInMs: day })
    const created = await creating.files.begin('new', { length: 7 })
    expect(created.expiresAt.getTime()).to.equal(now + day)
  })

  it('of no bytes are files at once', async () => {
    const { files, names } = await startPieces('in-', { isPrefix: true, maxFiles: 1 })
    expect((await files.begin('in-1', { length: 0 })).published).to.include({ size: 0 })
    expect(await names()).to.include('in-1')
  })

  it('have the hook called once', async () => {
    const uploaded: string[] = []
    const { links, uploadLink } = await startUploads(
      'new',
      {},
      {
        hooks: { onUploaded: ({ file }) => void uploaded.push(file.name) },
      },
    )
    const { token } = await uploadLink('other')
    const files = resumableOf(await links.openUpload({ token, name: 'other' }))
    const { id } = await files.begin('other', { length: 1 })
    await files.append(id, 0, chunks(1))
    await files.publish(id)
    expect(uploaded.filter((name) => name === 'other')).to.deep.equal(['other'])
  })
})
