import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createMemoryCredentialSource } from '../../src/memory/index.ts'
import { createRevocableLocks, type RevocableLocks } from '../../src/model/concurrency.ts'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import { arrayOf, chunks } from '../content.ts'
import { refusal } from '../rejection.ts'
import { withSystemClock } from '../with-system-clock.ts'

/** A store that counts how often it lists names. */
function countLists() {
  const store = createMemoryBlobStore()
  const counted = { lists: 0 }
  const list: BlobStore['list'] = (...asked) => {
    counted.lists++
    return store.list(...asked)
  }
  return { store: { ...store, list }, counted }
}

/** A service of alice, a link of hers to `in-`, and an upload by it. */
async function start(store: BlobStore, publishLocks?: RevocableLocks) {
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([{ name: 'alice', passwordHash: 'hash' }]),
    links: {
      createSignature: (key) => createHmac('sha256', key),
      ...(publishLocks && { publishLocks }),
    },
  })
  const files = service.filesOf({ name: 'alice' })
  const link = await files.uploadLink?.('in-', { isPrefix: true, maxFiles: 10, replace: true })
  const upload = async (name: string) => {
    const uploads = await service.links?.openUpload({ token: link?.token ?? '', name: 'in-' })
    return uploads?.upload(name, chunks('x'))
  }
  const names = async () => (await arrayOf(files.list({ prefix: 'in-' }))).flat()
  return { files, upload, names }
}

describe('links to upload to a prefix', () => {
  it('list the names once for many uploads, and once for each that they refuse', async () => {
    const { store, counted } = countLists()
    const { upload, names } = await start(store)
    for (let n = 0; n < 10; n++) await upload(`in-${n}`)
    expect(counted.lists).to.be.at.most(3)
    counted.lists = 0
    expect(await refusal(upload('in-x'))).to.equal('quota-exceeded')
    expect(counted.lists).to.equal(1)
    await upload('in-1')
    expect(await names()).to.have.length(10)
  })

  it('count at once what the customer uploads, whole and in pieces, and deletes', async () => {
    const { store } = countLists()
    const { files, upload } = await start(store)
    for (let n = 0; n < 8; n++) await upload(`in-${n}`)
    await files.upload('in-8', chunks('x'))
    const begun = await files.resumable?.begin('in-9', { length: 1 })
    await files.resumable?.append(begun?.id ?? '', 0, 'x')
    expect(await refusal(upload('in-x'))).to.equal('quota-exceeded')
    await files.delete('in-0')
    await upload('in-x')
  })

  it('count anew also where the clock of the system is set back', () =>
    withSystemClock(async (setBack) => {
      const { store } = countLists()
      const { upload } = await start(store)
      await upload('in-0')
      for (let n = 1; n < 10; n++)
        await store.put({ customer: 'alice', name: `in-${n}` }, chunks('x'))
      setBack()
      await setTimeout(1_100)
      expect(await refusal(upload('in-x'))).to.equal('quota-exceeded')
    }))

  it('never make more where services share locks, which do not say who held them last', async () => {
    const { store } = countLists()
    const locks = createRevocableLocks()
    const [one, two] = [await start(store, locks), await start(store, locks)]
    const uploads = Array.from({ length: 30 }, (_, n) => (n % 2 ? one : two).upload(`in-${n}`))
    const results = await Promise.allSettled(uploads)
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length.at.most(10)
    for (let n = 30; n < 60; n++)
      await refusal((n % 3 ? one : two).upload(`in-${n}`)).catch(() => {})
    expect(await one.names()).to.have.length(10)
  })

  it('count anew under each lock where the publication before it has failed', async () => {
    const { store } = countLists()
    let isLost = false
    const put: BlobStore['put'] = async (...given) => {
      const info = await store.put(...given)
      if (isLost) throw new Error('the answer is lost')
      return info
    }
    const { upload, names } = await start({ ...store, put })
    for (let n = 0; n < 8; n++) await upload(`in-${n}`)
    isLost = true
    for (let n = 8; n < 10; n++) await upload(`in-${n}`).catch(() => {})
    isLost = false
    expect(await refusal(upload('in-x'))).to.equal('quota-exceeded')
    expect(await names()).to.have.length(10)
  })
})
