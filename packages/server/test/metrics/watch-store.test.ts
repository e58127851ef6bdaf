import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import {
  type StoreObserver,
  type StoreOperation,
  type UploadEvent,
  watchStore,
} from '../../src/metrics/store-metrics.ts'

const key = { customer: 'demo', name: 'a' }

async function* bytes(...chunks: readonly string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** A store in memory, with some methods replaced, and what is told of it. */
function watched(methods: Partial<BlobStore> = {}) {
  const done: (readonly [StoreOperation, number])[] = []
  const failed: (readonly [StoreOperation, unknown])[] = []
  let uploads = 0
  const memory = {
    ...createMemoryBlobStore(),
    probe: async () => {},
    close: async () => {},
    ...methods,
  }
  const observer: StoreObserver = {
    onDone: (...told) => void done.push(told),
    onFailed: (...told) => void failed.push(told),
    onUploads: (change) => void (uploads += change),
  }
  const events: UploadEvent[] = []
  const store = watchStore(memory, observer, (event) => void events.push(event))
  return {
    store,
    events,
    failed,
    done,
    names: () => done.map(([name]) => name),
    uploads: () => uploads,
  }
}

async function rejection(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  throw new Error('It did not reject')
}

describe('watchStore with uploads in pieces', () => {
  const plan = { name: 'a', expiresAfterMs: 60_000 }
  const open = (methods?: Partial<BlobStore>) => {
    const { store, ...told } = watched(methods)
    if (store.resumable === undefined) throw new Error('The memory store keeps uploads in pieces')
    return { uploads: store.resumable, told }
  }

  it('reports each operation, and what becomes of uploads', async () => {
    const { uploads, told } = open()
    const [first, second] = [await uploads.begin('demo', plan), await uploads.begin('demo', plan)]
    const ofFirst = { customer: 'demo', id: first.id }
    await uploads.append(ofFirst, 0, bytes('a'))
    await uploads.append(ofFirst, 1, bytes('b'))
    expect((await uploads.state(ofFirst))?.offset).to.equal(2)
    await uploads.publish(ofFirst)
    const ofSecond = { customer: 'demo', id: second.id }
    expect(await uploads.discard(ofSecond)).to.equal(true)
    expect(await uploads.discard(ofSecond)).to.equal(false)
    expect(told.names()).to.deep.equal([
      'begin',
      'begin',
      'append',
      'append',
      'state',
      'publish',
      'discard',
      'discard',
    ])
    expect(told.events).to.deep.equal(['begun', 'begun', 'continued', 'published', 'discarded'])
    expect(told.failed).to.be.empty
  })

  it('counts what came as a whole as begun and published', async () => {
    const { uploads, told } = open()
    const info = { name: 'a', size: 1, modifiedAt: new Date(), etag: 'x' }
    await uploads.remember('demo', plan, info)
    expect(told.events).to.deep.equal(['begun', 'published'])
  })

  it('reports failures of the store, and not those of the content', async () => {
    const { uploads, told } = open()
    const { id } = await uploads.begin('demo', plan)
    const broken = new Error('broken')
    async function* content() {
      yield* bytes('a')
      expect(told.uploads()).to.equal(1)
      throw broken
    }
    const key = { customer: 'demo', id }
    expect(await rejection(() => uploads.append(key, 0, content()))).to.equal(broken)
    expect(told.failed).to.be.empty
    expect(told.uploads()).to.equal(0)
    const conflict = await rejection(() => uploads.append(key, 7, bytes('a')))
    expect(told.failed).to.deep.equal([['append', conflict]])
  })
})

describe('watchStore', () => {
  it('reports every operation, once each', async () => {
    const { store, names, failed } = watched()
    await store.put(key, bytes('a'))
    await (await store.open(key))?.close()
    await store.stat(key)
    await store.usage('demo')
    await all(store.list('demo'))
    await all(store.listDetails('demo'))
    await all(store.customers())
    await store.delete(key)
    const lists = ['list', 'list', 'customers']
    expect(names()).to.deep.equal(['put', 'open', 'stat', 'usage', ...lists, 'delete'])
    expect(failed).to.be.empty
  })

  it('reports an upload under way from its beginning to its end', async () => {
    const { store, uploads, names } = watched()
    const gate = Promise.withResolvers<undefined>()
    const begun = Promise.withResolvers<undefined>()
    const content = async function* () {
      begun.resolve(undefined)
      await gate.promise
      yield Buffer.from('a')
    }
    const put = store.put(key, content())
    await begun.promise
    expect(uploads()).to.equal(1)
    expect(names()).to.be.empty
    gate.resolve(undefined)
    await put
    expect(uploads()).to.equal(0)
    expect(names()).to.deep.equal(['put'])
  })

  it('does not take the time of the client for that of the store', async () => {
    const { store, done } = watched()
    const clientMs = 300
    await store.put(
      key,
      (async function* () {
        yield Buffer.from('a')
        await new Promise((resolve) => setTimeout(resolve, clientMs))
      })(),
    )
    expect(done[0]?.[1]).to.be.below(clientMs)
  })

  it('reports failures of the store, and passes them on', async () => {
    const fault = new FileServiceError('store-unavailable', 'away')
    const fail = async () => Promise.reject(fault)
    const { store, failed, names } = watched({
      put: async (_key, content) => {
        await all(content)
        throw fault
      },
      open: fail,
      stat: fail,
      delete: fail,
      usage: fail,
      list: () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }),
    })
    const calls = [
      () => store.put(key, bytes('a')),
      () => store.open(key),
      () => store.stat(key),
      () => store.delete(key),
      () => store.usage('demo'),
      () => all(store.list('demo')),
    ]
    for (const call of calls) expect(await rejection(call)).to.equal(fault)
    const operations = ['put', 'open', 'stat', 'delete', 'usage', 'list']
    expect(failed.map(([operation]) => operation)).to.deep.equal(operations)
    expect(names()).to.deep.equal(operations)
  })

  it('blames the store neither for content that breaks off nor for uploads that are given up', async () => {
    const { store, failed, names, uploads } = watched()
    const broken = new Error('the client has left')
    const content = async function* () {
      yield Buffer.from('a')
      throw broken
    }
    expect(await rejection(() => store.put(key, content()))).to.equal(broken)
    const given = new AbortController()
    const stalled = async function* () {
      given.abort()
      yield Buffer.from('a')
      await new Promise(() => {})
    }
    await rejection(() => store.put(key, stalled(), { signal: given.signal }))
    expect(failed).to.be.empty
    expect(names()).to.be.empty
    expect(uploads()).to.equal(0)
  })

  it('hands on what the store has in memory, so that it is not read once more', async () => {
    const inMemory = Buffer.from('small')
    const memory = createMemoryBlobStore()
    const { store } = watched({
      open: async (...args) => {
        const blob = await memory.open(...args)
        return blob && { ...blob, bytes: inMemory }
      },
    })
    await memory.put(key, bytes('small'))
    const blob = await store.open(key)
    expect(blob?.bytes).to.equal(inMemory)
    await blob?.close()
  })

  it('keeps what a store can do besides', () => {
    const freeSpace = async () => 1
    expect(watched({ freeSpace } as Partial<BlobStore>).store).to.include({ freeSpace })
  })
})

describe('watchStore with a history', () => {
  it('reports what is asked of the history, and how long it takes', async () => {
    const { store, names } = watched()
    const keepReplaced = true
    await store.put(key, bytes('one'))
    await store.put(key, bytes('two'), { keepReplaced })
    await store.delete(key, { keepReplaced })
    const { history } = store
    if (history === undefined) throw new Error('The memory store keeps')
    const [[newest] = []] = await all(history.versions(key))
    await all(history.deleted(key.customer))
    const version = newest?.version ?? ''
    await (await history.open({ ...key, version }))?.close()
    await history.restore({ ...key, version }, 'a')
    await history.purge(key.customer, new Date(Date.now() + 60_000))
    const expected = ['put', 'put', 'delete', 'versions', 'deleted', 'open', 'restore', 'purge']
    expect(names()).to.deep.equal(expected)
  })
})
