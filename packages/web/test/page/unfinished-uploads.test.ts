import { expect } from 'chai'
import { createTabLocks } from '../../page/browser/storage-and-timers.ts'
import { openUnfinishedUploads as openWithLocks } from '../../page/uploads/unfinished-uploads.ts'

function memoryStorage(kept = new Map<string, string>()) {
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

/** In one tab of a browser without locks. */
const openUnfinishedUploads = (
  customer: string,
  storage: ReturnType<typeof memoryStorage>,
  locks = createTabLocks({}),
) => openWithLocks(customer, storage, locks)

/** The Web Locks of a browser, whose tabs share them. */
function fakeLocks() {
  const held = new Map<string, Promise<unknown>>()
  return {
    async request(
      name: string,
      { ifAvailable = false }: { readonly ifAvailable?: boolean },
      hold: (lock: object | null) => unknown,
    ) {
      await Promise.resolve()
      if (ifAvailable && held.has(name)) return hold(null)
      while (held.has(name)) await held.get(name)
      const ended = Promise.resolve(hold({})).finally(() => held.delete(name))
      held.set(name, ended)
      await ended
    },
    query: async () => ({ held: [...held.keys()].map((name) => ({ name })) }),
  }
}

const begun = {
  name: 'film.mp4',
  size: 1000,
  lastModified: 5,
  address: 'https://files.example/resumable/1',
  sent: 400,
  replaces: false,
}

describe('openUnfinishedUploads', () => {
  it('finds after a reload what has begun, by the file and the name', () => {
    const storage = memoryStorage()
    openUnfinishedUploads('anna', storage).record(begun)
    const reopened = openUnfinishedUploads('anna', storage)
    expect(reopened.find({ size: 1000, lastModified: 5 }, 'film.mp4')).to.deep.equal(begun)
    expect(reopened.find({ size: 1000, lastModified: 6 }, 'film.mp4')).to.equal(undefined)
    expect(reopened.find({ size: 1000, lastModified: 5 }, 'other.mp4')).to.equal(undefined)
  })

  it('shows a customer nothing of another one', () => {
    const storage = memoryStorage()
    openUnfinishedUploads('anna', storage).record(begun)
    expect(openUnfinishedUploads('bob', storage).all.value).to.deep.equal([])
  })

  it('forgets what is done, and leaves nothing behind', () => {
    const kept = new Map<string, string>()
    const uploads = openUnfinishedUploads('anna', memoryStorage(kept))
    uploads.record(begun)
    uploads.record({ ...begun, sent: 500 })
    expect(uploads.all.value).to.have.length(1)
    uploads.forget(begun.address)
    expect(kept.size).to.equal(0)
  })

  it('loses nothing of what another tab notes', () => {
    const storage = memoryStorage()
    const [one, other] = [
      openUnfinishedUploads('anna', storage),
      openUnfinishedUploads('anna', storage),
    ]
    one.record(begun)
    const second = { ...begun, name: 'second.mp4', address: 'https://files.example/resumable/2' }
    other.record(second)
    one.record({ ...begun, sent: 500 })
    expect(openUnfinishedUploads('anna', storage).all.value).to.deep.equal([
      second,
      { ...begun, sent: 500 },
    ])
  })

  describe('in two tabs', () => {
    const file = { size: 1000, lastModified: 5 }
    const settled = () => new Promise((done) => setImmediate(done))

    async function openTwo() {
      const storage = memoryStorage()
      const locks = fakeLocks()
      const open = () => openUnfinishedUploads('anna', storage, createTabLocks({ locks }))
      const one = open()
      one.record(begun)
      await settled()
      const other = open()
      await settled()
      return { one, other, storage }
    }

    it('finds and claims in one nothing that the other sends', async () => {
      const { one, other } = await openTwo()
      expect(one.find(file, 'film.mp4')).to.deep.equal(begun)
      expect(await one.claim(begun.address)).to.equal(true)
      expect(other.all.value).to.deep.equal([])
      expect(other.find(file, 'film.mp4')).to.equal(undefined)
      expect(await other.claim(begun.address)).to.equal(false)
    })

    it('removes in one nothing that the other sends', async () => {
      const { one, other, storage } = await openTwo()
      other.record({ ...begun, address: 'https://files.example/resumable/2' })
      // Begun after the other tab has looked.
      const later = { ...begun, address: 'https://files.example/resumable/3' }
      one.record(later)
      await settled()
      await other.clear()
      await settled()
      expect(openUnfinishedUploads('anna', storage).all.value).to.deep.equal([begun, later])
    })

    it('finds and claims what the other has left', async () => {
      const { one, other } = await openTwo()
      one.release(begun.address)
      await settled()
      expect(other.find(file, 'film.mp4')).to.deep.equal(begun)
      expect(await other.claim(begun.address)).to.equal(true)
      expect(await one.claim(begun.address)).to.equal(false)
      expect(one.all.value).to.deep.equal([])
    })
  })

  it('bears a storage that keeps nothing, and one with something else in it', () => {
    const full = {
      ...memoryStorage(new Map([['holdfast:unfinished:anna', 'nonsense']])),
      setItem() {
        throw new Error('full')
      },
    }
    const uploads = openUnfinishedUploads('anna', full)
    uploads.record(begun)
    expect(uploads.all.value).to.deep.equal([begun])
  })
})
