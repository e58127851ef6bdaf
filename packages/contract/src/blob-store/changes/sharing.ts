import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { expectAbsent, expectBlob, names, expectOneWinner } from '../../support/expectations.ts'
import { pattern } from '../../support/pattern.ts'
import { gated, generated, inChunks, MiB } from '../../support/sources.ts'

const key = { customer: 'alice', name: 'report.pdf' }

/**
 * What one opening of the data has acknowledged, another sees: nothing that was promised waits in one process's memory.
 * (That a blob survives the power cut after it is for each adapter's own tests.)
 */
export function sharing(test: BlobStoreTest): void {
  test('shows another opening a blob once put has resolved', async ({ store, openAgain }) => {
    const info = await store.put(key, generated(5 * MiB))
    const other = await openAgain()
    expect(await other.stat(key)).to.deep.equal(info)
    await expectBlob(other, key, pattern(5 * MiB))
    expect(await names(other, 'alice')).to.deep.equal([key.name])
    expect(await other.usage('alice')).to.deep.equal({ blobs: 1, bytes: 5 * MiB })
  })

  test('shows an opening made before what another puts, replaces and deletes', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await expectAbsent(other, key)
    await store.put(key, generated(1000))
    await expectBlob(other, key, pattern(1000))
    await other.put(key, generated(10, 2))
    await expectBlob(store, key, pattern(10, { seed: 2 }))
    expect(await other.delete(key)).to.equal(true)
    await expectAbsent(store, key)
  })

  test('lets exactly one of twenty create-only puts through two openings succeed', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await expectOneWinner(Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other)))
  })

  test('leaves a put under way alone when the data is opened again', async ({
    store,
    openAgain,
  }) => {
    const { content, stalled, release } = gated(pattern(300_000))
    const put = store.put(key, content)
    await stalled
    const other = await openAgain()
    await expectAbsent(other, key)
    release()
    await put
    await expectBlob(other, key, pattern(300_000))
  })

  test('leaves a blob that is being read alone when another opening replaces it', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await store.put(key, inChunks(pattern(1000)))
    const blob = await store.open(key)
    await other.put(key, generated(1000, 2))
    const read: Uint8Array[] = []
    for await (const chunk of blob?.content ?? []) read.push(Buffer.from(chunk))
    expect(Buffer.concat(read).equals(pattern(1000))).to.equal(true)
  })
}
