import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createQuotaKeeper } from '../../src/policy/quota-keeper.ts'
import { deleteFile } from '../../src/use-cases/delete-file.ts'
import { arrayOf, chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'

const alice = { name: 'alice', quota: 100 }

async function storeWithFiles() {
  const store = createMemoryBlobStore()
  for (const name of ['a', 'b']) await store.put({ customer: 'alice', name }, chunks(50))
  return { store, quotas: createQuotaKeeper(store), keeps: () => false }
}

describe('deleteFile', () => {
  it('deletes the file, and no other', async () => {
    const policy = await storeWithFiles()
    const { store } = policy
    await deleteFile(policy, alice, 'a')
    expect(await arrayOf(store.list('alice'))).to.deep.equal([['b']])
  })

  it('finds only files of the customer, once', async () => {
    const policy = await storeWithFiles()
    const { store } = policy
    await deleteFile(policy, alice, 'a')
    const error = await rejection(deleteFile(policy, alice, 'a'))
    expect(error).to.include({ code: 'not-found', message: 'File not found' })
    expect(await refusal(deleteFile(policy, { name: 'bob' }, 'b'))).to.equal('not-found')
    expect(await arrayOf(store.list('alice'))).to.deep.equal([['b']])
  })

  it('frees the bytes for uploads under way', async () => {
    const policy = await storeWithFiles()
    const { quotas } = policy
    const claim = await quotas.claim(alice, 'c')
    expect(() => claim.grow(1)).to.throw()
    await deleteFile(policy, alice, 'a')
    void claim.grow(50)
    claim.end()
  })

  it('refuses a bad name without asking the store', async () => {
    const policy = await storeWithFiles()
    const { store } = policy
    const unasked = { ...store, delete: () => Promise.reject(new Error('asked')) }
    const refused = deleteFile({ ...policy, store: unasked }, alice, '..')
    expect(await refusal(refused)).to.equal('invalid-file-name')
  })
})
