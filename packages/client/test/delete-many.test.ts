import { text } from 'node:stream/consumers'
import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { type Fate, rejection, startBadLine, until } from '@holdfast/testing'
import { expect } from 'chai'
import type { FileDeleted, Retry } from '../src/index.ts'
import { all } from './support/all.ts'
import { summary } from './support/many-files.ts'
import { clientOf, startService } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

const namesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(5, '0')}.txt`)
const deleted = (names: readonly string[]) => names.map((name) => [name, undefined])

describe('Client.deleteMany', function () {
  this.timeout(60_000)
  const service = useService()
  const batches = () => service.requests.filter((request) => request === 'POST /delete/batch')

  async function store(names: readonly string[]) {
    for (const name of names) await service.files.upload(name, new Uint8Array(1))
  }
  const left = () => all(service.client.list())

  it('deletes files in as many requests as the server wants, and yields each in its order', async () => {
    const names = namesOf(10_001)
    await store(['stays', ...names])
    expect(summary(await all(service.client.deleteMany(names)))).to.deep.equal(deleted(names))
    expect(batches()).to.have.length(2)
    expect(service.requests).to.have.length(2)
    expect(await left()).to.deep.equal(['stays'])
  })

  it('sends no body that is larger than the server takes', async () => {
    const names = Array.from({ length: 9000 }, (_, index) => `${index}`.padEnd(250, 'ü\u2028"'))
    const results = await all(service.client.deleteMany(names))
    expect(results.map(({ name }) => name)).to.deep.equal(names)
    expect(batches()).to.have.length(2)
  })

  it('deletes nothing for no names', async () => {
    expect(await all(service.client.deleteMany([]))).to.deep.equal([])
    expect(service.requests).to.deep.equal([])
  })

  it('says of each name that is refused why, and deletes the others, which may come one by one', async () => {
    await store(['a', '密 "x"', 'b'])
    const names = async function* () {
      yield* ['a', 'x/y', '', '..', 'half \ud800', 'missing', 'a', '密 "x"', 'b']
    }
    expect(summary(await all(service.client.deleteMany(names())))).to.deep.equal([
      ['a', undefined],
      ['x/y', 'invalid-file-name'],
      ['', 'invalid-file-name'],
      ['..', 'invalid-file-name'],
      ['half \ud800', 'invalid-file-name'],
      ['missing', 'not-found'],
      ['a', 'not-found'],
      ['密 "x"', undefined],
      ['b', undefined],
    ])
  })

  it('yields a result as soon as its line is there', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using slow = await startService({
      store: createStore({ before: async (name) => void (name === 'b' && (await gate.promise)) }),
    })
    for (const name of ['a', 'b']) await slow.files.upload(name, new Uint8Array(1))
    const results = clientOf(slow).deleteMany(['a', 'b'])
    expect((await results.next()).value).to.deep.equal({ name: 'a', error: undefined })
    gate.resolve(undefined)
    expect((await results.next()).value).to.deep.equal({ name: 'b', error: undefined })
    expect((await results.next()).done).to.equal(true)
  })

  it('has the server begin no further deletion when the caller stops', async () => {
    const names = namesOf(2000)
    let underWay = 0
    const before = async () => {
      underWay++
      await new Promise((resolve) => setTimeout(resolve, 5))
      underWay--
    }
    await using slow = await startService({ store: createStore({ before }) })
    for (const name of names) await slow.files.upload(name, new Uint8Array(1))
    for await (const { name } of clientOf(slow).deleteMany(names)) if (name === names[19]) break
    await until('no deletion is under way', () => underWay === 0)
    expect((await all(clientOf(slow).list())).length).to.be.within(1000, 1980)
  })

  it('ends with the reason of its signal', async () => {
    await using line = await startBadLine(service.port, ['silent'])
    const stop = new AbortController()
    const results = all(clientOf(line).deleteMany(namesOf(2), { signal: stop.signal }))
    stop.abort(new Error('Enough'))
    expect(await rejection(results)).to.include({ message: 'Enough' })
    const late = clientOf(service).deleteMany(namesOf(1), { signal: stop.signal })
    expect(await rejection(all(late))).to.include({ message: 'Enough' })
  })

  it('rejects with what concerns all files', async () => {
    const wrong = clientOf(service, { password: 'wrong' })
    expect(await rejection(all(wrong.deleteMany(namesOf(2))))).to.include({
      code: 'invalid-credentials',
    })
    const none = clientOf({ port: 1 }, { retries: 0 })
    expect(await rejection(all(none.deleteMany(namesOf(2))))).to.include({ code: 'no-answer' })
  })

  it('says so where the server does not know such a request', async () => {
    await using server = await startServer((_request, response) => {
      const message = 'Method not allowed. Use DELETE, OPTIONS'
      response.writeHead(405, { 'Content-Type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify({ statusCode: 405, error: 'Method Not Allowed', message }))
    })
    const results = all(clientOf(server).deleteMany(namesOf(2)))
    expect(await rejection(results)).to.include({ code: 'method-not-allowed', status: 405 })
  })

  it('asks again for what the store could not delete for a moment', async () => {
    const names = namesOf(5)
    const failing = new Map(['00001.txt', '00003.txt'].map((name) => [name, 1]))
    await using broken = await startService({ store: createStore({ failing }) })
    for (const name of names) await broken.files.upload(name, new Uint8Array(1))
    const retries: Retry[] = []
    const client = clientOf(broken, { onRetry: (retry) => retries.push(retry) })
    expect(summary(await all(client.deleteMany(names)))).to.deep.equal(deleted(names))
    expect(retries.map(({ error }) => error.code)).to.deep.equal(['store-unavailable'])
    expect(await all(client.list())).to.deep.equal([])
  })

  it('says of the file which the store cannot delete why, and deletes the others', async () => {
    const names = namesOf(5)
    const failing = new Map([['00001.txt', Infinity]])
    await using broken = await startService({ store: createStore({ failing }) })
    for (const name of names) await broken.files.upload(name, new Uint8Array(1))
    const results = await all(clientOf(broken, { retries: 0 }).deleteMany(names))
    expect(summary(results)).to.deep.equal(
      names.map((name) => [name, name === '00001.txt' ? 'store-unavailable' : undefined]),
    )
  })

  describe('where the line breaks', () => {
    it('asks again for what has no answer, and takes what is not found then for deleted', async () => {
      const names = namesOf(900)
      await store(names)
      const fates: readonly Fate[] = [
        { cutAfter: 5000 },
        { cutAnswerAfter: 700 },
        'unanswered',
        { cutAnswerAfter: 20_000 },
      ]
      const retries: Retry[] = []
      await using line = await startBadLine(service.port, fates)
      const client = clientOf(line, { onRetry: (retry) => retries.push(retry) })
      expect(summary(await all(client.deleteMany(names)))).to.deep.equal(deleted(names))
      expect(retries.map(({ error }) => error.code)).to.deep.equal(Array(4).fill('no-answer'))
      expect(await left()).to.deep.equal([])
    })

    it('yields what is known before it rejects', async () => {
      const names = namesOf(900)
      await store(names)
      const known: FileDeleted[] = []
      await using line = await startBadLine(service.port, [{ cutAnswerAfter: 2000 }])
      const deleting = async () => {
        const results = clientOf(line, { retries: 0 }).deleteMany(names)
        for await (const result of results) known.push(result)
      }
      expect(await rejection(deleting())).to.include({ code: 'no-answer' })
      expect(summary(known)).to.deep.equal(deleted(names.slice(0, known.length)))
      expect(known.length).to.be.within(1, 100)
    })
  })

  it('believes no answer that is about other files, or ends early', async () => {
    const ok = (filename: string) => ({ filename, statusCode: 200, message: 'OK' })
    const fault = { statusCode: 500, error: 'x', message: 'An unexpected error occurred' }
    for (const [lines, code] of [
      [[ok('other')], 'unknown'],
      [[{ filename: 'a' }], 'unknown'],
      [['text'], 'unknown'],
      [[ok('a'), fault], 'unexpected'],
      [[ok('a')], 'no-answer'],
    ] as const) {
      await using server = await startServer((request, response) => {
        void text(request).then(() => {
          response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8')
          response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        })
      })
      const results = all(clientOf(server, { retries: 0 }).deleteMany(['a', 'b']))
      expect(await rejection(results)).to.include({ code })
    }
  })
})

interface StoreOptions {
  /** What a deletion waits for. */
  readonly before?: (name: string) => Promise<void>
  /** How often the deletion of a name fails. */
  readonly failing?: Map<string, number>
}

/** A store in memory whose deletions wait, or fail. */
function createStore({ before = async () => {}, failing = new Map() }: StoreOptions): BlobStore {
  const store = createMemoryBlobStore()
  return {
    ...store,
    async delete(key) {
      await before(key.name)
      const times = failing.get(key.name) ?? 0
      if (times === 0) return store.delete(key)
      failing.set(key.name, times - 1)
      throw new FileServiceError('store-unavailable', 'Storage unavailable')
    },
  }
}
