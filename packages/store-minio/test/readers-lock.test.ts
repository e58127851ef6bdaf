import { setTimeout as delay } from 'node:timers/promises'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { bytesOf, contentOf, key, MiB } from './faults/blobs.ts'
import { expectUnavailable } from './faults/faulty-store.ts'
import { openMinioHarness } from './minio-harness.ts'

/** More than all sockets on the way hold. */
const large = bytesOf(64 * MiB, 1)
const small = bytesOf(1000, 2)

describeWithMinio('openMinioBlobStore, while a large blob is being read', (minio) => {
  it('puts neither a new blob in its place nor deletes it, says so, and lets the reader finish', async function () {
    this.timeout(60_000)
    const { store, dispose } = await openMinioHarness(minio(), { idleTimeoutMs: 1500 })
    const before = await store.put(key, contentOf(large))
    const blob = await store.open(key)
    const read: Uint8Array[] = []
    for await (const chunk of blob?.content ?? []) {
      if (read.length === 0) {
        await expectUnavailable(store.put(key, contentOf(small)), 'put')
        await expectUnavailable(store.delete(key), 'delete')
      }
      read.push(chunk)
    }
    expect(Buffer.concat(read).equals(large), 'what was opened').to.equal(true)
    // MinIO looks for the lock every 50 ms: a request that still waited for it would be carried out now.
    for (let count = 1; count <= 20; count++) {
      expect(await store.stat(key)).to.deep.equal(before)
      await delay(50)
    }
    expect((await store.put(key, contentOf(small))).size).to.equal(small.length)
    await dispose()
  })
})
