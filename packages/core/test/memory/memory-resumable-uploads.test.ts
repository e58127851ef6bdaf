import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { arrayOf, chunks } from '../content.ts'

const plan = { name: 'a', expiresAfterMs: 1000 }

function open() {
  const time = { ms: 0 }
  const { resumable } = createMemoryBlobStore(() => new Date(time.ms))
  if (!resumable) throw new Error('The memory store keeps uploads in pieces')
  return { time, uploads: resumable }
}

describe('createMemoryBlobStore, resumable', () => {
  it('counts the time from the last change', async () => {
    const { time, uploads } = open()
    const { id, expiresAt } = await uploads.begin('alice', plan)
    expect(expiresAt.getTime()).to.equal(1000)
    time.ms = 999
    const upload = { customer: 'alice', id }
    await uploads.append(upload, 0, chunks('abc'))
    expect((await uploads.state(upload))?.expiresAt.getTime()).to.equal(1999)
    time.ms = 1998
    await uploads.publish(upload)
    time.ms = 2997
    expect((await uploads.state(upload))?.published?.size).to.equal(3)
    time.ms = 2998
    expect(await uploads.state(upload)).to.equal(undefined)
  })

  it('gives pages of 1,000 uploads at most', async () => {
    const { uploads } = open()
    for (let count = 0; count < 1001; count++) await uploads.begin('alice', plan)
    const pages = await arrayOf(uploads.list('alice'))
    expect(pages.map((page) => page.length)).to.deep.equal([1000, 1])
  })
})
