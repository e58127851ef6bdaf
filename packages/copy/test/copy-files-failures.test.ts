import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { contentOf, putText } from '@holdfast/testing'
import { expect } from 'chai'
import { copyFiles } from './copy-with-sha256.ts'
import { watchedStore } from './watched-store.ts'

describe('copyFiles, when something fails', () => {
  let from: BlobStore
  let to: BlobStore
  beforeEach(async () => {
    from = createMemoryBlobStore()
    to = createMemoryBlobStore()
    for (let number = 0; number < 50; number++) {
      await putText(from, 'alice', `${number}.txt`, `content ${number}`)
    }
  })

  it('copies the rest, and says which file it was and why', async () => {
    const source = watchedStore(from, (method, { name }) => {
      if (method === 'open' && name === '7.txt') throw new Error('EACCES: permission denied')
    })
    const result = await copyFiles({ from: source, to })
    expect(result.copied.files).to.equal(49)
    expect(result.stoppedBy).to.be.undefined
    expect(result.failures).to.deep.equal([
      { customer: 'alice', name: '7.txt', reason: 'EACCES: permission denied' },
    ])
  })

  it('does not report what succeeds in a later pass', async () => {
    let times = 0
    const target = watchedStore(to, (method, { name }) => {
      if (method === 'put' && name === '7.txt' && times++ === 0) throw new Error('once')
    })
    const result = await copyFiles({ from, to: target })
    expect(result).to.deep.include({ copied: { files: 50, bytes: 490 }, failures: [] })
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  it('ends the links in a later pass where it fails at first, or reports that', async () => {
    await from.linkGenerations?.renew('alice')
    let left = 1
    const generations = to.linkGenerations ?? expect.fail()
    const target: BlobStore = {
      ...to,
      linkGenerations: {
        read: (customer) => generations.read(customer),
        async renew(customer) {
          if (left-- > 0) throw new Error('EIO')
          return generations.renew(customer)
        },
      },
    }
    expect(await copyFiles({ from, to: target })).to.deep.include({ failures: [] })
    expect(await generations.read('alice')).not.to.equal('')

    await putText(from, 'bob', 'b.txt', 'of bob')
    await from.linkGenerations?.renew('bob')
    left = Infinity
    const { copied, failures } = await copyFiles({ from, to: target })
    expect(copied.files).to.equal(1)
    expect(failures).to.deep.equal([{ customer: 'bob', name: undefined, reason: 'EIO' }])
  })

  it('copies the other customers where one cannot be listed', async () => {
    await putText(from, 'bob', 'b.txt', 'of bob')
    const source: BlobStore = {
      ...from,
      async usage(customer) {
        if (customer === 'alice') throw new Error('EIO')
        return from.usage(customer)
      },
      async *list(customer) {
        if (customer === 'alice') throw new Error('EIO')
        yield* from.list(customer)
      },
    }
    const result = await copyFiles({ from: source, to })
    expect(await contentOf(to)).to.deep.equal({ 'bob/b.txt': 'of bob' })
    expect(result.failures).to.deep.equal([{ customer: 'alice', name: undefined, reason: 'EIO' }])
  })

  for (const code of ['store-unavailable', 'insufficient-storage'] as const) {
    it(`gives up after ten failures in a row of "${code}"`, async () => {
      let puts = 0
      const target = watchedStore(to, (method) => {
        if (method !== 'put') return
        puts++
        if (puts > 20) throw new FileServiceError(code, 'Sorry')
      })
      const result = await copyFiles({ from, to: target, concurrency: 2 })
      expect(result.copied.files).to.equal(20)
      expect(result.failures.length).to.be.within(10, 11)
      expect(result.stoppedBy).to.have.property('message', '10 failures in a row, the last: Sorry')
      expect(result.isCaughtUp).to.be.false
      expect(puts).to.be.at.most(32)
    })
  }

  it('goes on where only some files do not fit', async () => {
    const target = watchedStore(to, (method, { name }) => {
      if (method === 'put' && name.endsWith('3.txt'))
        throw new FileServiceError('insufficient-storage', 'Full')
    })
    const result = await copyFiles({ from, to: target, concurrency: 1 })
    expect(result.failures).to.have.length(5)
    expect(result).to.deep.include({ stoppedBy: undefined })
    expect(result.copied.files).to.equal(45)
  })

  it('ends early when it is aborted, and leaves whole files only; a second copy does the rest', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    let opened = 0
    const source = watchedStore(from, (method) => {
      if (method === 'open' && ++opened === 10) stop.abort(reason)
    })
    const result = await copyFiles({ from: source, to, concurrency: 4, signal: stop.signal })
    expect(result).to.deep.include({ failures: [], stoppedBy: reason, isCaughtUp: false })
    expect(result.copied.files).to.be.within(1, 10)
    expect(await contentOf(from)).to.include(await contentOf(to))
    const rest = await copyFiles({ from, to })
    expect(rest.present.files + rest.copied.files).to.equal(50)
    expect(rest.present.files).to.equal(result.copied.files)
    expect(await contentOf(to)).to.deep.equal(await contentOf(from))
  })

  it('throws where it cannot even begin', async () => {
    const down = new FileServiceError('store-unavailable', 'Down')
    const source: BlobStore = {
      ...from,
      async *customers() {
        throw down
      },
    }
    expect(await copyFiles({ from: source, to }).catch((error: unknown) => error)).to.equal(down)
  })

  it('reports what it has done where the target cannot list its customers', async () => {
    const target: BlobStore = {
      ...to,
      async *customers() {
        throw new Error('Down')
      },
    }
    const result = await copyFiles({ from, to: target })
    expect(result.stoppedBy).to.have.property('message', 'Down')
  })
})
