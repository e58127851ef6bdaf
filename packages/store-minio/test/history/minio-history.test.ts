import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { type BlobKey, type History, isFileServiceError, type KeptBlob } from '@holdfast/core'
import { describeWithMinio } from '@holdfast/testing/minio'
import { AssertionError, expect } from 'chai'
import { startAlteringProxy } from '../inspect/start-altering-proxy.ts'
import { type MinioBlobStore, openMinioBlobStore } from '../../src/minio-blob-store.ts'

const key = { customer: 'alice', name: 'a' }

async function* text(content: string) {
  yield Buffer.from(content)
}

async function all<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const found: T[] = []
  for await (const page of pages) found.push(...page)
  return found
}

function historyOf({ history, historyProblem }: MinioBlobStore): History {
  if (history) return history
  throw new AssertionError(`the store has no history: ${historyProblem()}`)
}

const sizesOf = async (history: History, of: BlobKey) =>
  (await all(history.versions(of))).map(({ size }) => size)

const newestOf = async (history: History, of: BlobKey): Promise<KeptBlob> => {
  const [newest] = await all(history.versions(of))
  if (newest) return newest
  throw new AssertionError('nothing is kept')
}

describeWithMinio('history of openMinioBlobStore', (minio) => {
  async function open(bucket: string, endpoint = minio().endpoint) {
    const { accessKey, secretKey, client } = minio()
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
    return {
      store,
      bucket,
      history: historyOf(store),
      put: (content: string) =>
        client.send(new PutObjectCommand({ Bucket: bucket, Key: 'alice/a', Body: content })),
      /** Of the object, newest first. */
      entries: async () => {
        const command = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: 'alice/' })
        const { Versions = [], DeleteMarkers = [] } = await client.send(command)
        return [...Versions.map(({ Size }) => Size), ...DeleteMarkers.map(() => 'marker')]
      },
      [Symbol.asyncDispose]: () => store.close(),
    }
  }

  const openNew = async () => open(await minio().createVersionedBucket())

  it('keeps an object that is older than the versioning of its bucket', async () => {
    const { client } = minio()
    const bucket = await minio().createBucket()
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'alice/a', Body: 'older' }))
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    await using opened = await open(bucket)
    const { store, history } = opened
    expect(await history.open({ ...key, version: 'null' })).to.equal(undefined)
    await store.put(key, text('new'))
    expect((await newestOf(history, key)).version).to.equal('null')
    expect((await history.restore({ ...key, version: 'null' }, 'b'))?.size).to.equal(5)
    expect((await history.restore({ ...key, version: 'null' }, 'a'))?.size).to.equal(5)
    expect(await sizesOf(history, key)).to.deep.equal([3, 5])
    expect(await history.purge('alice', new Date(Date.now() + 1000))).to.deep.equal({
      blobs: 2,
      bytes: 8,
    })
    expect((await store.stat(key))?.size).to.equal(5)
  })

  it('renames an object that is older than the versioning, and keeps none of it', async () => {
    const { client } = minio()
    const bucket = await minio().createBucket()
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'alice/a', Body: 'older' }))
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    await using opened = await open(bucket)
    await opened.store.rename?.(key, 'b', { keepReplaced: true })
    expect(await all(opened.history.kept('alice'))).to.deep.equal([])
    expect(await all(opened.history.deleted('alice'))).to.deep.equal([])
  })

  it('keeps what an administrator replaces and deletes', async () => {
    await using opened = await openNew()
    await opened.put('one')
    await opened.put('other')
    const objectRef = { Bucket: opened.bucket, Key: 'alice/a' }
    await minio().client.send(new DeleteObjectCommand(objectRef))
    expect(await sizesOf(opened.history, key)).to.deep.equal([5, 3])
    expect(await all(opened.history.deleted('alice'))).to.have.length(1)
  })

  it('does not open, restore or purge the present object', async () => {
    await using opened = await openNew()
    const { VersionId: version = '' } = await opened.put('present')
    const { history, store } = opened
    expect(await history.open({ ...key, version })).to.equal(undefined)
    expect(await history.restore({ ...key, version }, 'b')).to.equal(undefined)
    await history.purge('alice', new Date(Date.now() + 1000))
    expect((await store.stat(key))?.size).to.equal(7)
  })

  it('removes a delete marker by the purge after the one that has removed the last version', async () => {
    await using opened = await openNew()
    const { store, history, entries } = opened
    await store.put(key, text('one'))
    await store.delete(key)
    await store.put(key, text('other'))
    await store.delete(key)
    const later = () => new Date(Date.now() + 1000)
    await history.purge('alice', later())
    expect(await entries()).to.deep.equal(['marker', 'marker'])
    expect(await store.stat(key)).to.equal(undefined)
    await history.purge('alice', later())
    expect(await entries()).to.deep.equal([])
  })

  it('leaves a delete marker that hides a version', async () => {
    await using opened = await openNew()
    const { store, history, entries } = opened
    await store.put(key, text('one'))
    await store.delete(key)
    for (const _ of [1, 2]) await history.purge('alice', new Date(Date.now() - 60_000))
    expect(await entries()).to.deep.equal([3, 'marker'])
    expect(await store.stat(key)).to.equal(undefined)
  })

  it('goes by the order of the list, where a server lists all in the same second', async () => {
    const bucket = await minio().createVersionedBucket()
    await using proxy = await startAlteringProxy(minio().endpoint, {
      versions: (list) =>
        list.replaceAll(/(?<=<LastModified>)[^<]*/g, () => '2026-01-01T00:00:00.000Z'),
    })
    await using opened = await open(bucket, proxy.endpoint)
    const { store, history } = opened
    for (const content of ['1', '22', '333']) {
      await store.put(key, text(content))
      await store.delete(key)
    }
    expect(await sizesOf(history, key)).to.deep.equal([3, 2, 1])
    const deleted = await all(history.deleted('alice'))
    expect(deleted.map(({ size }) => size)).to.deep.equal([3])
    await store.put(key, text('4444'))
    expect(await all(history.deleted('alice'))).to.deep.equal([])
    expect(await sizesOf(history, key)).to.deep.equal([3, 2, 1])
  })

  it('takes an answer that is no list of versions for a failure', async () => {
    const bucket = await minio().createVersionedBucket()
    let isBroken = false
    await using proxy = await startAlteringProxy(minio().endpoint, {
      versions: (list) => (isBroken ? '<html></html>' : list),
    })
    await using opened = await open(bucket, proxy.endpoint)
    isBroken = true
    const failure = await all(opened.history.versions(key)).catch((error: unknown) => error)
    expect(isFileServiceError(failure, 'store-unavailable')).to.equal(true)
  })
})
