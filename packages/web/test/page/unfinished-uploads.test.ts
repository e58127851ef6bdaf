import { expect } from 'chai'
import { openUnfinishedUploads } from '../../page/uploads/unfinished-uploads.ts'

function memoryStorage(kept = new Map<string, string>()) {
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
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
