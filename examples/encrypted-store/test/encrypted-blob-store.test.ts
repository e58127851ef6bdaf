import { deepEqual, equal, rejects } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { describeBlobStore } from '@holdfast/contract'
import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { createEncryptedBlobStore } from '../src/encrypted-blob-store.ts'
import { openHarness } from './open-harness.ts'

describeBlobStore('createEncryptedBlobStore', openHarness)

describe('createEncryptedBlobStore', () => {
  const key = { customer: 'alice', name: 'note' }
  const content = randomBytes(200_000)
  const inner = createMemoryBlobStore()
  const store = createEncryptedBlobStore(inner, randomBytes(32))

  const contentIn = async (from: BlobStore, at = key) => {
    const blob = await from.open(at)
    if (!blob) throw new Error('There is no such blob')
    return buffer(blob.content)
  }
  const stored = () => contentIn(inner)
  const replace = (bytes: Uint8Array, at = key) => inner.put(at, new Blob([bytes]).stream())
  const read = (at = key) => contentIn(store, at)

  beforeEach(() => store.put(key, new Blob([content]).stream()))

  it('keeps nothing of the content as it is', async () => {
    const sealed = await stored()
    for (let at = 0; at + 16 <= content.length; at += 1000) {
      equal(sealed.includes(content.subarray(at, at + 16)), false)
    }
    deepEqual(await read(), content)
  })

  it('seals the same content differently each time', async () => {
    const first = await stored()
    await store.put(key, new Blob([content]).stream())
    equal(first.equals(await stored()), false)
  })

  for (const at of [0, 1, 40, 70_000, 199_999]) {
    it(`does not read what was altered at byte ${at}`, async () => {
      const sealed = await stored()
      sealed[at] = (sealed[at] ?? 0) ^ 1
      await replace(sealed)
      await rejects(read())
    })
  }

  it('does not read what was cut, at the end of a chunk or elsewhere', async () => {
    const sealed = await stored()
    const sealedChunk = 64 * 1024 + 16
    for (const size of [0, 33, 33 + sealedChunk, 33 + 2 * sealedChunk, sealed.length - 1]) {
      await replace(sealed.subarray(0, size))
      await rejects(read(), `${size} bytes`)
    }
  })

  it('does not read what was moved to another customer or name', async () => {
    for (const other of [
      { ...key, customer: 'bob' },
      { ...key, name: 'other' },
    ]) {
      await replace(await stored(), other)
      await rejects(read(other))
    }
  })

  it('reads nothing with another key', async () => {
    const stranger = createEncryptedBlobStore(inner, randomBytes(32))
    await rejects(contentIn(stranger))
  })
})
