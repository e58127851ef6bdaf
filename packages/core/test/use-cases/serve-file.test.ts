import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { serveFile, statFile } from '../../src/use-cases/serve-file.ts'
import { chunks, textOf } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'

const alice = { name: 'alice' }

async function storeWithFile() {
  const store = createMemoryBlobStore()
  const info = await store.put({ customer: 'alice', name: 'a' }, chunks('0123456789'))
  return { store, info }
}

describe('serveFile', () => {
  it('opens the whole file', async () => {
    const { store, info } = await storeWithFile()
    const file = await serveFile(store, alice, 'a')
    expect(file.info).to.deep.equal(info)
    expect(file.range).to.deep.equal({ offset: 0, length: 10 })
    expect(await textOf(file.content)).to.equal('0123456789')
  })

  it('opens the range asked for', async () => {
    const { store } = await storeWithFile()
    const file = await serveFile(store, alice, 'a', { range: { first: 2, last: 4 } })
    expect(file.range).to.deep.equal({ offset: 2, length: 3 })
    expect(await textOf(file.content)).to.equal('234')
  })

  it('opens without a range when none can be had', async () => {
    const { store, info } = await storeWithFile()
    const file = await serveFile(store, alice, 'a', { range: { first: 10 } })
    expect(file.info).to.deep.equal(info)
    expect(file.range).to.equal(undefined)
    expect(await textOf(file.content)).to.equal('')
  })

  it('finds only files of the customer', async () => {
    const { store } = await storeWithFile()
    for (const [customer, name] of [
      ['alice', 'b'],
      ['bob', 'a'],
    ] as const) {
      const error = await rejection(serveFile(store, { name: customer }, name))
      expect(error).to.include({ code: 'not-found', message: 'File not found' })
    }
  })

  it('refuses a bad name without asking the store', async () => {
    const { store } = await storeWithFile()
    const unasked = { ...store, open: () => Promise.reject(new Error('asked')) }
    expect(await refusal(serveFile(unasked, alice, '../a'))).to.equal('invalid-file-name')
  })
})

describe('statFile', () => {
  it('says what is known of the file without opening it', async () => {
    const { store, info } = await storeWithFile()
    const unopened = { ...store, open: () => Promise.reject(new Error('opened')) }
    expect(await statFile(unopened, alice, 'a')).to.deep.equal(info)
  })

  it('finds only files of the customer', async () => {
    const { store } = await storeWithFile()
    const error = await rejection(statFile(store, alice, 'b'))
    expect(error).to.include({ code: 'not-found', message: 'File not found' })
    expect(await refusal(statFile(store, { name: 'bob' }, 'a'))).to.equal('not-found')
  })

  it('refuses a bad name without asking the store', async () => {
    const { store } = await storeWithFile()
    const unasked = { ...store, stat: () => Promise.reject(new Error('asked')) }
    expect(await refusal(statFile(unasked, alice, ''))).to.equal('invalid-file-name')
  })
})
