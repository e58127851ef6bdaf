import { expect } from 'chai'
import { collect } from '../collect.ts'
import { openDiskHarness } from '../disk-harness.ts'

const key = { customer: 'alice', name: 'report.pdf' }

describe('what a disk store has taken of a content', () => {
  for (const size of [0, 1, 64 * 1024, 1_000_000]) {
    it(`can be read after ${size} bytes, and any number of times`, async () => {
      const { store, heldResources, dispose } = await openDiskHarness()
      const bytes = Buffer.alloc(size, 'holdfast')
      const read: Buffer[] = []
      let held = -1
      let readBack: (() => AsyncIterable<Uint8Array>) | undefined
      async function* content() {
        if (size > 0) yield Buffer.from(bytes)
        const before = await heldResources()
        for (let times = 0; times < 2; times++) {
          const pieces: Uint8Array[] = []
          for await (const piece of readBack?.() ?? []) pieces.push(Buffer.from(piece))
          read.push(Buffer.concat(pieces))
        }
        // Who stops early leaves nothing open, either.
        for await (const _ of readBack?.() ?? []) break
        held = (await heldResources()) - before
      }
      await store.put(key, content(), { onReadable: (given) => void (readBack = given) })
      expect(read.map((one) => one.equals(bytes))).to.deep.equal([true, true])
      expect(held).to.equal(0)
      const blob = await store.open(key)
      expect(Buffer.concat(await collect(blob!.content)).equals(bytes)).to.equal(true)
      await dispose()
    })
  }
})
