import { join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { isFileServiceError } from '@holdfast/core'
import { openDiskBlobStore } from '../src/disk-blob-store.ts'
import { findLitter } from './disk-harness.ts'
import { injectFull, systemError } from './full-disk.ts'

const key = { customer: 'alice', name: 'report.pdf' }

async function* zeros(mebibytes: number) {
  for (let i = 0; i < mebibytes; i++) yield new Uint8Array(1024 * 1024)
}

describe('openDiskBlobStore on a full disk', () => {
  it('refuses what it cannot write, with the cause, and goes on', async () => {
    await using place = await injectFull(await makeTemporaryDirectory())
    const directory = join(place.path, 'data')
    const store = await openDiskBlobStore({ directory })
    const error = await store.put(key, zeros(9)).catch((failure: unknown) => failure)
    expect(isFileServiceError(error, 'insufficient-storage')).to.equal(true)
    expect(error).to.have.nested.property('cause.code', 'ENOSPC')
    expect(await findLitter(directory)).to.deep.equal([])
    expect(await openFilesIn(directory)).to.deep.equal([])
    expect(await store.put(key, zeros(1))).to.have.property('size', 1024 * 1024)
    await store.close()
  })

  it('passes on what the content throws, even when it looks like a full disk', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    const theirs = systemError('ENOSPC', 'elsewhere')
    async function* content() {
      yield* zeros(1)
      throw theirs
    }
    const error = await store.put(key, content()).catch((failure: unknown) => failure)
    expect(error).to.equal(theirs)
    await store.close()
  })
})
