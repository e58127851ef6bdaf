import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { bytesOf, contentOf, key } from '../faults/blobs.ts'
import { withFaultyStore } from '../faults/faulty-store.ts'
import { openMinioHarness } from '../minio-harness.ts'

const KiB = 1024

describeWithMinio('readBlob', (minio) => {
  it('has the bytes of what is small at once, and holds no connection for them', async () => {
    const { store, heldResources, dispose } = await openMinioHarness(minio())
    const bytes = bytesOf(64 * KiB + 1)
    await store.put(key, contentOf(bytes))
    const whole = await store.open(key)
    expect(whole?.bytes).to.equal(undefined)
    expect(await heldResources()).to.equal(1)
    await whole?.close()
    const range = await store.open(key, { range: { first: 1 } })
    expect(range?.bytes && bytes.subarray(1).equals(range.bytes)).to.equal(true)
    expect(await heldResources()).to.equal(0)
    await dispose()
  })

  it('asks anew for what is small when it breaks off in the middle', () =>
    withFaultyStore(minio(), {}, async ({ store, direct, proxy }) => {
      const bytes = bytesOf(40 * KiB)
      await direct.put(key, contentOf(bytes))
      proxy.inject({
        kind: 'cut',
        direction: 'answer',
        position: 'body',
        request: /^GET/,
        times: 1,
      })
      const blob = await store.open(key)
      expect(blob?.bytes && bytes.equals(blob.bytes)).to.not.equal(false)
      const chunks: Uint8Array[] = []
      for await (const chunk of blob?.content ?? []) chunks.push(Uint8Array.from(chunk))
      expect(Buffer.concat(chunks).equals(bytes)).to.equal(true)
      // Only now: the store may have opened the file before the answer came to the cut.
      expect(proxy.strikes()).to.equal(1)
    }))
})
