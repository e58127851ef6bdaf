import { expect } from 'chai'
import { chunks, failing, pulled } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { startUploads } from './links-fixture.ts'
import { startPieces } from './pieces-by-link-fixture.ts'

describe('links to upload, by which uploads are under way,', () => {
  it('reserve none of the quota for bytes that have not come, and refuse what would not fit', async () => {
    const { openUpload, rows, service } = await startUploads('in-', { isPrefix: true })
    const alice = { name: 'alice', quota: 12 }
    rows.set('alice', { ...alice, passwordHash: 'hash of alice' })
    const uploads = await openUpload()
    const unread = pulled()
    const tooLarge = uploads.upload('in-1', unread, { size: 6 })
    expect(await refusal(tooLarge)).to.equal('quota-exceeded')
    expect(unread.asked()).to.equal(0)
    const slow = pulled()
    const uploading = uploads.upload('in-1', slow, { size: 5 })
    await turn()
    slow.give(1)
    await service.filesOf(alice).upload('mine', chunks(4))
    slow.give(1)
    expect(await refusal(uploading)).to.equal('quota-exceeded')
  })

  it("say no number of the customer's, only the limit of the link", async () => {
    const bare = { code: 'quota-exceeded', message: 'Quota exceeded' }
    for (const limits of [{ quota: 9 }, { maxFiles: 2 }]) {
      const { openUpload, rows } = await startPieces('in-', { isPrefix: true })
      rows.set('alice', { name: 'alice', passwordHash: 'hash of alice', ...limits })
      const uploads = await openUpload()
      const larger = () => chunks(50, 50)
      expect(await rejection(uploads.upload('in-1', larger(), { size: 100 }))).to.include(bare)
      expect(await rejection(uploads.upload('in-1', larger()))).to.include(bare)
      const begun = uploads.resumable?.begin('in-1', { length: 100 })
      expect(await rejection(begun ?? Promise.resolve())).to.include(bare)
    }
    const { uploads } = await startUploads('in-', { isPrefix: true, maxFiles: 1 })
    await uploads.upload('in-1', chunks('x'))
    const message = "Quota exceeded: the link's limit is 1 file(s)"
    const refused = await rejection(uploads.upload('in-2', chunks('x')))
    expect(refused).to.include({ code: 'quota-exceeded', message })
  })

  it('say no number of unfinished uploads', async () => {
    const bounds = { maxUnfinishedUploads: 1 }
    const { files, service } = await startPieces('in-', { isPrefix: true }, bounds)
    await service.filesOf({ name: 'alice' }).resumable?.begin('of alice')
    const refused = await rejection(files.begin('in-1'))
    expect(refused).to.include({ code: 'quota-exceeded', message: 'Quota exceeded' })
  })

  it('have one upload to a name under way at a time', async () => {
    const { uploads, openUpload } = await startUploads('new', { replace: true })
    const slow = pulled()
    const uploading = uploads.upload('new', slow)
    const unread = pulled()
    const refused = (await openUpload()).upload('new', unread)
    expect(await rejection(refused)).to.include({ code: 'overloaded', retryAfterMs: 1_000 })
    expect(unread.asked()).to.equal(0)
    await turn()
    slow.finish()
    await uploading
    await uploads.upload('new', chunks('x'))
    const error = new Error('gone')
    expect(await rejection(uploads.upload('new', failing(error)))).to.equal(error)
    await uploads.upload('new', chunks('x'))
  })

  it('have a slot for the publication of an upload that has all of its bytes', async () => {
    const { files, openUpload } = await startPieces('in-', { isPrefix: true, maxFiles: 4 })
    const { id } = await files.begin('in-1', { length: 3 })
    await files.append(id, 0, 'abc', { isPartial: true })
    const slow = Array.from({ length: 4 }, () => pulled())
    const uploadings = slow.map(async (content, n) =>
      (await openUpload()).upload(`in-s${n}`, content).catch(() => {}),
    )
    await turn()
    expect(await refusal(files.publish(id))).to.equal('overloaded')
    slow[0]?.finish()
    await uploadings[0]
    expect((await files.publish(id)).published?.name).to.equal('in-1')
    for (const content of slow.slice(1)) content.finish()
    await Promise.all(uploadings)
  })

  for (const [maxFiles, most] of [
    [2, 2],
    [100, 8],
  ] as const) {
    it(`have ${most} uploads under way at a time where they allow ${maxFiles} files`, async () => {
      const { openUpload, names } = await startUploads('in-', { isPrefix: true, maxFiles })
      const contents = Array.from({ length: most }, () => pulled())
      const uploadings = contents.map(async (content, n) =>
        (await openUpload()).upload(`in-${n}`, content),
      )
      await turn()
      const another = (await openUpload()).upload('in-x', chunks('x'))
      expect(await refusal(another)).to.equal('overloaded')
      for (const content of contents) content.finish()
      await Promise.all(uploadings)
      expect(await names()).to.have.length(2 + most)
    })
  }
})
