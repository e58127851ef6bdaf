import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { FileHooks } from '../../src/model/file-hooks.ts'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import { chunks, failing, textOf } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'

const alice = { name: 'alice', quota: 100 }

/** The files of a customer, and what the hooks were told, in order. */
function open(store: BlobStore = createMemoryBlobStore()) {
  const told: unknown[] = []
  const hooks: FileHooks = {
    onUploaded: ({ customer, file }) => told.push(['uploaded', customer.name, file.name]),
    onServed: ({ customer, file, range, bytes }) =>
      told.push(['served', customer.name, file.name, range, bytes]),
    onDeleted: ({ customer, name }) => told.push(['deleted', customer.name, name]),
  }
  return { told, files: createFileService({ store, hooks }).filesOf(alice) }
}

/** A store that gives its blobs in memory as well, as a store may with small ones. */
function givingBytes(store: BlobStore): BlobStore {
  return {
    ...store,
    async open(key, options) {
      const blob = await store.open(key, options)
      return blob && { ...blob, bytes: Buffer.from(await textOf(blob.content)) }
    },
  }
}

describe('hooks of a service', () => {
  it('are called with what was done, before the caller gets the result', async () => {
    const { files, told } = open()
    await files.upload('a', chunks('0123456789'))
    expect(told.splice(0)).to.deep.equal([['uploaded', 'alice', 'a']])
    await textOf((await files.serve('a')).content)
    expect(told.splice(0)).to.deep.equal([['served', 'alice', 'a', { offset: 0, length: 10 }, 10]])
    await files.delete('a')
    expect(told).to.deep.equal([['deleted', 'alice', 'a']])
  })

  it('are given the customer and the file as they are', async () => {
    let event: unknown
    const hooks: FileHooks = { onUploaded: (upload) => (event = upload) }
    const files = createFileService({ store: createMemoryBlobStore(), hooks }).filesOf(alice)
    const file = await files.upload('a', chunks('x'))
    expect(event).to.deep.equal({ customer: alice, file })
  })

  it('are not called for what was refused or has failed', async () => {
    const { files, told } = open()
    expect(await refusal(files.upload('a', chunks(101)))).to.equal('quota-exceeded')
    await rejection(files.upload('a', failing(new Error('broken off'), 'x')))
    expect(await refusal(files.serve('a'))).to.equal('not-found')
    expect(await refusal(files.delete('a'))).to.equal('not-found')
    expect(told).to.deep.equal([])
  })

  it('report how much was read by a reader who leaves', async () => {
    const { files, told } = open()
    await files.upload('a', chunks(99))
    told.length = 0
    const file = await files.serve('a', { range: { first: 9 } })
    for await (const chunk of file.content) {
      expect(chunk.length).to.equal(90)
      break
    }
    await file.close()
    expect(told).to.deep.equal([['served', 'alice', 'a', { offset: 9, length: 90 }, 90]])
  })

  it('report how much was read where the store fails on the way', async () => {
    const store = createMemoryBlobStore()
    const breaking: BlobStore = {
      ...store,
      async open(key, options) {
        const blob = await store.open(key, options)
        return blob && { ...blob, content: failing(new Error('broken'), '01234') }
      },
    }
    const { files, told } = open(breaking)
    await files.upload('a', chunks('0123456789'))
    told.length = 0
    expect(String(await rejection(textOf((await files.serve('a')).content)))).to.include('broken')
    expect(told).to.deep.equal([['served', 'alice', 'a', { offset: 0, length: 10 }, 5]])
  })

  it('are called once, also where a file is closed while and after it is read', async () => {
    const { files, told } = open()
    await files.upload('a', chunks('x'))
    told.length = 0
    const file = await files.serve('a')
    const reading = file.content[Symbol.asyncIterator]()
    await reading.next()
    expect(told).to.have.length(0)
    await file.close()
    await file.close()
    await reading.return?.()
    expect(told).to.have.length(1)
  })

  it('are not called for a file that was opened and not read, or for a range that is not there', async () => {
    const { files, told } = open()
    await files.upload('a', chunks('x'))
    told.length = 0
    await (await files.serve('a')).close()
    await (await files.serve('a', { range: { first: 5 } })).close()
    await files.stat('a')
    expect(told).to.deep.equal([])
  })

  it('are called for an empty file that was read', async () => {
    const { files, told } = open()
    await files.upload('a', chunks())
    told.length = 0
    await textOf((await files.serve('a')).content)
    expect(told).to.deep.equal([['served', 'alice', 'a', { offset: 0, length: 0 }, 0]])
  })

  it('report bytes that were taken from memory, when the file is closed', async () => {
    const { files, told } = open(givingBytes(createMemoryBlobStore()))
    await files.upload('a', chunks('0123456789'))
    told.length = 0
    const file = await files.serve('a')
    expect(Buffer.from(file.bytes ?? []).toString()).to.equal('0123456789')
    expect(file.bytes).to.have.length(10)
    expect(told).to.deep.equal([])
    await file.close()
    expect(told).to.deep.equal([['served', 'alice', 'a', { offset: 0, length: 10 }, 10]])
    told.length = 0
    await (await files.serve('a')).close()
    expect(told, 'nobody took them').to.deep.equal([])
  })

  for (const [how, fail] of [
    [
      'throws',
      () => {
        throw new Error('hook')
      },
    ],
    ['rejects', () => Promise.reject(new Error('hook'))],
  ] as const) {
    it(`change nothing when one ${how}: its failure is an unhandled rejection`, async () => {
      const unhandled: unknown[] = []
      const listeners = process.rawListeners('unhandledRejection')
      process.removeAllListeners('unhandledRejection')
      process.on('unhandledRejection', (error) => unhandled.push(error))
      try {
        const hooks = { onUploaded: fail, onServed: fail, onDeleted: fail }
        const files = createFileService({ store: createMemoryBlobStore(), hooks }).filesOf(alice)
        await files.upload('a', chunks('x'))
        expect(await textOf((await files.serve('a')).content)).to.equal('x')
        await files.delete('a')
        await new Promise((resolve) => setImmediate(resolve))
      } finally {
        process.removeAllListeners('unhandledRejection')
        for (const listener of listeners) process.on('unhandledRejection', listener as () => void)
      }
      expect(unhandled.map(String)).to.deep.equal(Array(3).fill('Error: hook'))
    })
  }

  it('are not waited for', async () => {
    const never = new Promise(() => {})
    const hooks = { onUploaded: () => never, onDeleted: () => never }
    const files = createFileService({ store: createMemoryBlobStore(), hooks }).filesOf(alice)
    await files.upload('a', chunks('x'))
    await files.delete('a')
  })

  it('may be methods of an object', async () => {
    class Index implements FileHooks {
      readonly names: string[] = []
      onUploaded({ file }: { readonly file: { readonly name: string } }) {
        this.names.push(file.name)
      }
    }
    const hooks = new Index()
    const files = createFileService({ store: createMemoryBlobStore(), hooks }).filesOf(alice)
    await files.upload('a', chunks('x'))
    expect(hooks.names).to.deep.equal(['a'])
  })
})
