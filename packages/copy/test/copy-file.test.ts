import { createHash } from 'node:crypto'
import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { contentOf, putText } from '@holdfast/testing'
import { expect } from 'chai'
import { copyFile } from '../src/copy-file.ts'

const key = { customer: 'alice', name: 'a.txt' }

/** Calls `copyFile`; gives what it throws instead of throwing it. */
async function tryToCopy(from: BlobStore, to: BlobStore, signal = new AbortController().signal) {
  let bytes = 0
  const onBytes = (more: number) => void (bytes += more)
  const options = { from, to, key, signal, onBytes, createHash: () => createHash('sha256') }
  const copied = await copyFile(options).catch((error: unknown) => error)
  return { copied, bytes }
}

/** A store that spoils so many of its contents as they come in. */
function spoiling(store: BlobStore, times: number): BlobStore {
  let rest = times
  async function* spoiled(content: AsyncIterable<Uint8Array>) {
    const isSpoiled = rest-- > 0
    for await (const chunk of content) yield isSpoiled ? chunk.map((byte) => byte ^ 1) : chunk
  }
  return {
    ...store,
    put: (key, content, options) => store.put(key, spoiled(content), options),
  }
}

describe('copyFile', () => {
  let from: BlobStore
  let to: BlobStore
  beforeEach(async () => {
    from = createMemoryBlobStore()
    to = createMemoryBlobStore()
    await putText(from, 'alice', 'a.txt', 'content')
  })

  it('copies a file in place of another, and reports it and the bytes', async () => {
    await putText(to, 'alice', 'a.txt', 'earlier')
    const { copied, bytes } = await tryToCopy(from, to)
    expect(copied).to.deep.equal(await from.stat(key))
    expect(bytes).to.equal(2 * 7)
    expect(await contentOf(to)).to.deep.equal({ 'alice/a.txt': 'content' })
  })

  it('does nothing for a file that is not there', async () => {
    await from.delete(key)
    await putText(to, 'alice', 'a.txt', 'earlier')
    expect(await tryToCopy(from, to)).to.deep.equal({ copied: undefined, bytes: 0 })
    expect(await contentOf(to)).to.deep.equal({ 'alice/a.txt': 'earlier' })
  })

  it('copies once more where the first copy is wrong', async () => {
    const { copied } = await tryToCopy(from, spoiling(to, 1))
    expect(copied).not.to.be.instanceOf(Error)
    expect(await contentOf(to)).to.deep.equal({ 'alice/a.txt': 'content' })
  })

  it('removes a second wrong copy, and fails', async () => {
    const { copied } = await tryToCopy(from, spoiling(to, 2))
    expect(copied).to.have.property('message', 'The copy differs from the original')
    expect(await contentOf(to)).to.deep.equal({})
  })

  it('removes a copy that cannot be read', async () => {
    const unreadable = new Error('no reading today')
    const { copied } = await tryToCopy(from, {
      ...to,
      open: () => Promise.reject(unreadable),
    })
    expect(copied).to.equal(unreadable)
    expect(await contentOf(to)).to.deep.equal({})
  })

  it('does not remove what others have put in place of a wrong copy', async () => {
    const other: BlobStore = {
      ...to,
      async open(key) {
        await putText(to, 'alice', 'a.txt', 'of another client')
        return to.open(key)
      },
    }
    const { copied } = await tryToCopy(from, other)
    expect(copied).to.be.instanceOf(Error)
    expect(await contentOf(to)).to.deep.equal({ 'alice/a.txt': 'of another client' })
  })

  /** The source, where `change` happens while a file is being read. */
  const changing = (change: () => Promise<unknown>): BlobStore => ({
    ...from,
    async open(key) {
      const blob = await from.open(key)
      if (!blob) return undefined
      async function* content() {
        if (blob) yield* blob.content
        await change()
      }
      return { ...blob, content: content() }
    },
  })

  it('does not copy what is deleted while it is read', async () => {
    await putText(to, 'alice', 'a.txt', 'earlier')
    const { copied } = await tryToCopy(
      changing(() => from.delete(key)),
      to,
    )
    expect(copied).to.be.undefined
    expect(await contentOf(to)).to.deep.equal({ 'alice/a.txt': 'earlier' })
  })

  it('copies what a file is replaced with while it is read', async () => {
    let times = 0
    const source = changing(async () => {
      if (times++ === 0) await putText(from, 'alice', 'a.txt', 'replaced')
    })
    const { copied } = await tryToCopy(source, to)
    expect(copied).not.to.be.instanceOf(Error)
    expect(await contentOf(to)).to.deep.equal({ 'alice/a.txt': 'replaced' })
  })

  it('fails, and changes nothing, where a file is replaced each time it is read', async () => {
    let times = 0
    const source = changing(() => putText(from, 'alice', 'a.txt', `replaced ${times++}`))
    const { copied } = await tryToCopy(source, to)
    expect(copied).to.have.property('message', 'The file was replaced during each try')
    expect(await contentOf(to)).to.deep.equal({})
  })

  it('closes the original also where the target refuses it unread', async () => {
    let isClosed = false
    const source: BlobStore = {
      ...from,
      async open(key) {
        const blob = await from.open(key)
        return blob && { ...blob, close: async () => void (isClosed = true) }
      },
    }
    const refused = new Error('no')
    const { copied } = await tryToCopy(source, { ...to, put: () => Promise.reject(refused) })
    expect(copied).to.equal(refused)
    expect(isClosed).to.be.true
  })

  it('ends at an abort also while the source stalls', async () => {
    const stopped = new Error('stopped')
    const stop = new AbortController()
    const stalling = changing(() => {
      setImmediate(() => stop.abort(stopped))
      return new Promise(() => {})
    })
    expect((await tryToCopy(stalling, to, stop.signal)).copied).to.equal(stopped)
  })

  it('throws the reason of an abort, at any point, and leaves nothing', async () => {
    const stopped = new Error('stopped')
    const whileSent = new AbortController()
    const source = changing(async () => whileSent.abort(stopped))
    expect((await tryToCopy(source, to, whileSent.signal)).copied).to.equal(stopped)
    const whileCompared = new AbortController()
    const target: BlobStore = {
      ...to,
      async open(key) {
        whileCompared.abort(stopped)
        return to.open(key)
      },
    }
    expect((await tryToCopy(from, target, whileCompared.signal)).copied).to.equal(stopped)
    expect(await contentOf(to)).to.deep.equal({})
  })
})
