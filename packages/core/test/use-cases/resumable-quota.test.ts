import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { Customer } from '../../src/model/customer.ts'
import { chunks, failing, pulled } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

const alice = { name: 'alice', quota: 100 }

function open(customer: Customer = alice) {
  const store = createMemoryBlobStore()
  const time = { ms: Date.now() }
  const service = createFileService({
    store,
    createSha256: () => createHash('sha256'),
    uploadExpiryMs: 60_000,
    now: () => time.ms,
  })
  const files = service.filesOf(customer)
  if (!files.resumable || !store.resumable) throw new Error('The store keeps uploads in pieces')
  return { store, service, files, resumable: files.resumable, uploads: store.resumable, time }
}

type Opened = ReturnType<typeof open>

/** Whether a file of so many bytes would be taken, and none larger. */
async function expectRoom({ files }: Pick<Opened, 'files'>, bytes: number): Promise<void> {
  const name = 'a name that no test uses'
  expect(await refusal(files.upload(name, chunks(bytes + 1)))).to.equal('quota-exceeded')
  await files.upload(name, chunks(bytes))
  await files.delete(name)
}

describe('resumable, with a quota', () => {
  it('counts what has arrived, however an append ended, and each byte once', async () => {
    const opened = open()
    const { resumable, files } = opened
    const { id } = await resumable.begin('a', { length: 80 })
    await expectRoom(opened, 100)
    await resumable.append(id, 0, chunks(30))
    await expectRoom(opened, 70)
    const broken = new Error('broken')
    expect(await rejection(resumable.append(id, 30, failing(broken, 20)))).to.equal(broken)
    await expectRoom(opened, 50)
    expect(await refusal(resumable.append(id, 0, chunks(5)))).to.equal('upload-conflict')
    await expectRoom(opened, 50)
    expect((await resumable.append(id, 50, chunks(30))).published?.size).to.equal(80)
    await expectRoom(opened, 20)
    await files.delete('a')
    await expectRoom(opened, 100)
  })

  it('keeps what came before the byte that is too many', async () => {
    const opened = open()
    const { id } = await opened.resumable.begin('a')
    const append = opened.resumable.append(id, 0, chunks(60, 40, 1))
    expect(await refusal(append)).to.equal('quota-exceeded')
    expect((await opened.resumable.state(id)).offset).to.equal(100)
    await opened.resumable.publish(id)
    expect((await opened.files.stat('a')).size).to.equal(100)
  })

  it('refuses an upload that does not fit when it begins, and reserves nothing for others', async () => {
    const opened = open()
    const { resumable, files } = opened
    await files.upload('b', chunks(40))
    expect(await refusal(resumable.begin('a', { length: 61 }))).to.equal('quota-exceeded')
    await resumable.begin('a', { length: 60 })
    await resumable.begin('b', { length: 100 })
    await expectRoom(opened, 60)
  })

  it('counts the file that is replaced as free', async () => {
    const opened = open()
    const { resumable, files } = opened
    await files.upload('a', chunks(80))
    const { id } = await resumable.begin('a', { length: 90 })
    await resumable.append(id, 0, chunks(50))
    expect(await refusal(files.upload('b', chunks()))).to.equal('quota-exceeded')
    await resumable.append(id, 50, chunks(40))
    await expectRoom(opened, 10)
  })

  it('frees what is discarded, by the customer or for its digest', async () => {
    const opened = open()
    const { resumable } = opened
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, chunks(70))
    await resumable.discard(id)
    const wrong = await resumable.begin('a', { length: 70, sha256: '0'.repeat(64) })
    expect(await refusal(resumable.append(wrong.id, 0, chunks(70)))).to.equal('digest-mismatch')
    await expectRoom(opened, 100)
  })

  it('frees what an append has claimed that ended before its claim was there', async () => {
    const opened = open()
    const { resumable, store, files } = opened
    const { id } = await resumable.begin('a')
    // While it is under way, the customer's files are not counted anew.
    const slow = pulled()
    const uploading = files.upload('slow', slow)
    await turn()
    const stat = store.stat.bind(store)
    const gate = Promise.withResolvers<undefined>()
    const asked = Promise.withResolvers<undefined>()
    store.stat = async (key) => {
      asked.resolve(undefined)
      await gate.promise
      return stat(key)
    }
    const stalled = refusal(resumable.append(id, 0, new Uint8Array(60)))
    await asked.promise
    expect((await resumable.state(id)).offset).to.equal(0)
    expect(await stalled).to.equal('upload-conflict')
    gate.resolve(undefined)
    await turn()
    await expectRoom(opened, 100)
    slow.finish()
    await uploading
  })

  it('frees what has expired, and sweeps it', async () => {
    const opened = open()
    const { resumable, service, time, files } = opened
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, chunks(70))
    time.ms += 120_000
    expect(await service.sweepUploads()).to.equal(1)
    await files.upload('b', chunks(100))
  })

  it('judges the number of files at the beginning, and at publication', async () => {
    const { resumable, files } = open({ name: 'alice', maxFiles: 1 })
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, chunks(1))
    await files.upload('b', chunks(1))
    expect(await refusal(resumable.begin('c'))).to.equal('quota-exceeded')
    await resumable.begin('b')
    expect(await refusal(resumable.publish(id))).to.equal('quota-exceeded')
    await files.delete('b')
    expect((await resumable.publish(id)).published?.size).to.equal(1)
  })

  it('asks the store for nothing more of customers without limits', async () => {
    const { resumable, uploads } = open({ name: 'alice' })
    const { id } = await resumable.begin('a')
    let asked = 0
    const state = uploads.state.bind(uploads)
    const list = uploads.list.bind(uploads)
    uploads.state = (key) => (asked++, state(key))
    uploads.list = (customer) => (asked++, list(customer))
    const broken = new Error('broken')
    expect(await rejection(resumable.append(id, 0, failing(broken, 20)))).to.equal(broken)
    expect(asked).to.equal(0)
  })
})
