import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { chunks } from '../content.ts'
import { rejection } from '../rejection.ts'

describe('usageOf', () => {
  it('is zeros for a customer without files, and leaves out the limits that there are not', async () => {
    const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'alice' })
    const unfinished = { uploads: 0, bytes: 0 }
    expect(await files.usage()).to.deep.equal({ files: 0, bytes: 0, unfinished })
  })

  it('counts the files and the unfinished uploads of the customer alone, beside the limits', async () => {
    const service = createFileService({ store: createMemoryBlobStore() })
    const alice = service.filesOf({ name: 'alice', quota: 1000, maxFiles: 7 })
    await alice.upload('a', chunks(3))
    await alice.upload('b', chunks(4))
    await service.filesOf({ name: 'bob' }).upload('c', chunks(5))
    const begun = await alice.resumable?.begin('d', { length: 10 })
    await alice.resumable?.append(begun?.id ?? '', 0, chunks(6)).catch(() => {})
    expect(await alice.usage()).to.deep.equal({
      files: 2,
      bytes: 7,
      unfinished: { uploads: 1, bytes: 6 },
      quota: 1000,
      maxFiles: 7,
    })
  })

  it('does not count a published upload twice', async () => {
    const service = createFileService({ store: createMemoryBlobStore() })
    const alice = service.filesOf({ name: 'alice' })
    const begun = await alice.resumable?.begin('d', { length: 6 })
    await alice.resumable?.append(begun?.id ?? '', 0, chunks(6))
    const { files, bytes, unfinished } = await alice.usage()
    expect({ files, bytes, unfinished }).to.deep.equal({
      files: 1,
      bytes: 6,
      unfinished: { uploads: 0, bytes: 0 },
    })
  })

  it('fails as the store fails', async () => {
    const fault = new Error('no disk')
    const store = { ...createMemoryBlobStore(), usage: () => Promise.reject(fault) }
    const files = createFileService({ store }).filesOf({ name: 'alice' })
    expect(await rejection(files.usage())).to.equal(fault)
  })
})
