import { createFileService, type BlobKey, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { putText } from '@holdfast/testing'
import { expect } from 'chai'
import { copyFiles } from './copy-with-sha256.ts'
import { watchedStore } from './watched-store.ts'

const keepReplaced = true
const versions = true

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('copyFiles with versions', () => {
  let time: number
  let from: BlobStore
  let to: BlobStore
  beforeEach(() => {
    time = 0
    const now = () => new Date((time += 1_000))
    from = createMemoryBlobStore(now)
    to = createMemoryBlobStore(now)
  })

  const put = async (store: BlobStore, name: string, ...texts: readonly string[]) => {
    for (const text of texts) {
      await store.put({ customer: 'alice', name }, bytesOf(text), { keepReplaced })
    }
  }
  const remove = (store: BlobStore, name: string) =>
    store.delete({ customer: 'alice', name }, { keepReplaced })

  /** What a store has under a name: the versions, oldest first, then the file, or `-` without one. */
  const storyOf = async (store: BlobStore, name: string): Promise<readonly string[]> => {
    const key: BlobKey = { customer: 'alice', name }
    const story: string[] = []
    for await (const page of store.history?.versions(key) ?? []) {
      for (const { version } of page) {
        const opened = await store.history?.open({ ...key, version })
        if (opened) story.unshift(await textOf(opened.content))
      }
    }
    const present = await store.open(key)
    return [...story, present ? await textOf(present.content) : '-']
  }

  it('copies the versions of a file in their order, and then the file', async () => {
    await put(from, 'a', 'one', 'two', 'three')
    const result = await copyFiles({ from, to, versions })
    expect(await storyOf(to, 'a')).to.deep.equal(['one', 'two', 'three'])
    expect(result).to.deep.include({
      ...{ copied: { files: 1, bytes: 5 }, versions: { files: 2, bytes: 6 }, versionsLeftOut: 0 },
      ...{ failures: [], isCaughtUp: true },
    })
  })

  it('copies deleted files, also of a customer without others', async () => {
    await put(from, 'gone', 'one', 'two')
    await remove(from, 'gone')
    const result = await copyFiles({ from, to, versions })
    expect(await storyOf(to, 'gone')).to.deep.equal(['one', 'two', '-'])
    expect(result.versions).to.deep.equal({ files: 2, bytes: 6 })
    expect(result.copied.files).to.equal(0)
  })

  it('copies nothing twice', async () => {
    await put(from, 'a', 'same', 'other', 'same')
    await put(from, 'gone', 'one')
    await remove(from, 'gone')
    await copyFiles({ from, to, versions })
    const result = await copyFiles({ from, to, versions })
    expect(result.versions.files).to.equal(0)
    expect(await storyOf(to, 'a')).to.deep.equal(['same', 'other', 'same'])
    expect(await storyOf(to, 'gone')).to.deep.equal(['one', '-'])
  })

  it('goes on where a copy was stopped, also among equal contents', async () => {
    await put(from, 'a', 'same', 'other', 'same', 'last')
    for (let most = 1; most <= 4; most++) {
      const target = createMemoryBlobStore(() => new Date((time += 1_000)))
      const stopping = new AbortController()
      let puts = 0
      const watched = watchedStore(target, (method) => {
        if (method === 'put' && ++puts > most) stopping.abort()
      })
      await copyFiles({ from, to: watched, versions, signal: stopping.signal })
      await copyFiles({ from, to: target, versions })
      expect(await storyOf(target, 'a')).to.deep.equal(['same', 'other', 'same', 'last'])
    }
  })

  it('copies what has been replaced since', async () => {
    await put(from, 'a', 'one', 'two')
    await copyFiles({ from, to, versions })
    await put(from, 'a', 'three', 'four')
    await from.history?.purge('alice', new Date(time - 1_500))
    await copyFiles({ from, to, versions })
    expect(await storyOf(to, 'a')).to.deep.equal(['one', 'two', 'three', 'four'])
  })

  it('copies the versions again of a file that an earlier copy left without', async () => {
    await put(from, 'a', 'one', 'two')
    expect((await copyFiles({ from, to })).versionsLeftOut).to.equal(1)
    expect(await storyOf(to, 'a')).to.deep.equal(['two'])
    await copyFiles({ from, to, versions })
    expect(await storyOf(to, 'a')).to.deep.equal(['two', 'one', 'two'])
  })

  it('leaves a file that was deleted since, unless what is extra is removed, and then keeps it', async () => {
    await put(from, 'a', 'one')
    await put(from, 'b', 'other')
    await copyFiles({ from, to, versions })
    await put(from, 'a', 'two')
    await remove(from, 'a')
    expect((await copyFiles({ from, to, versions })).extra).to.equal(1)
    expect(await storyOf(to, 'a')).to.deep.equal(['one'])
    const result = await copyFiles({ from, to, versions, removeExtra: true })
    expect(result.removed).to.equal(1)
    expect(await storyOf(to, 'a')).to.deep.equal(['one', 'two', '-'])
  })

  describe('when a version cannot be read', () => {
    /** The source, whose first `times` readings of a version of `name` fail. */
    const failing = (name: string, times: number): BlobStore => {
      const history = from.history ?? expect.fail()
      let left = times
      return {
        ...from,
        history: {
          ...history,
          async open(key) {
            if (key.name === name && left-- > 0) throw new Error('EIO')
            return history.open(key)
          },
        },
      }
    }
    const failureOf = (name: string) => [{ customer: 'alice', name, reason: 'EIO' }]
    beforeEach(() => put(from, 'other', 'content'))

    it('reports a deleted file after all passes', async () => {
      await put(from, 'gone', 'one', 'two')
      await remove(from, 'gone')
      const { copied, failures } = await copyFiles({ from: failing('gone', 1), to, versions })
      expect(copied.files).to.equal(1)
      expect(failures).to.deep.equal(failureOf('gone'))
    })

    it('reports a deleted file of which it has copied only the first version', async () => {
      await put(from, 'gone', 'one', 'two')
      await remove(from, 'gone')
      let reads = 0
      const history = from.history ?? expect.fail()
      const source: BlobStore = {
        ...from,
        history: {
          ...history,
          async open(key) {
            if (++reads > 1) throw new Error('EIO')
            return history.open(key)
          },
        },
      }
      const { failures } = await copyFiles({ from: source, to, versions })
      expect(failures).to.deep.equal(failureOf('gone'))
      expect(await storyOf(to, 'gone')).to.deep.equal(['one', '-'])
      await copyFiles({ from, to, versions })
      expect(await storyOf(to, 'gone')).to.deep.equal(['one', 'two', '-'])
    })

    it('tries a file of the target again in the next pass, and reports it if that fails', async () => {
      await put(from, 'a', 'one', 'two')
      await put(to, 'a', 'two')
      const source = failing('a', Infinity)
      const { failures } = await copyFiles({ from: source, to, versions })
      expect(failures).to.deep.equal(failureOf('a'))
      await put(from, 'another', 'content')
      expect(await copyFiles({ from: failing('a', 1), to, versions })).to.deep.include({
        ...{ failures: [], isCaughtUp: true },
      })
      expect(await storyOf(to, 'a')).to.deep.equal(['two', 'one', 'two'])
    })

    it('reports a customer whose deleted files cannot be listed', async () => {
      const history = from.history ?? expect.fail()
      const source: BlobStore = {
        ...from,
        history: {
          ...history,
          async *deleted(customer) {
            if (customer === 'alice') throw new Error('EIO')
            yield* history.deleted(customer)
          },
        },
      }
      await putText(from, 'bob', 'b', 'of bob')
      const { failures } = await copyFiles({ from: source, to, versions })
      expect(failures).to.deep.equal([{ customer: 'alice', name: undefined, reason: 'EIO' }])
    })
  })

  it('counts the versions that it leaves out, of all customers or of one', async () => {
    await put(from, 'a', 'one', 'two', 'three')
    const bob = createFileService({ store: from, keepReplacedMs: 60_000 }).filesOf({ name: 'bob' })
    for (const text of ['one', 'two']) await bob.upload('a', text)
    expect((await copyFiles({ from, to })).versionsLeftOut).to.equal(3)
    expect((await copyFiles({ from, to, customer: 'bob' })).versionsLeftOut).to.equal(1)
  })

  it('refuses a store without a history', async () => {
    const { history: _, ...bare } = createMemoryBlobStore()
    const error: unknown = await copyFiles({ from, to: bare, versions }).catch(
      (reason: unknown) => reason,
    )
    expect(error).to.be.instanceOf(TypeError)
  })
})
