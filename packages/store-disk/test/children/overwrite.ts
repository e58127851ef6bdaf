// Replaces blobs of the customer alice in the directory argv[2], which has argv[3] of them, until it is killed.
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

const [, , directory = '', count = '0'] = process.argv
const store = await openDiskBlobStore({ directory, writer: 1 })

async function* content() {
  yield Buffer.from('x')
}

async function overwrite(first: number): Promise<void> {
  for (let at = first; ; at += 619) {
    await store.put({ customer: 'alice', name: `name ${at % Number(count)}` }, content())
  }
}

console.log('overwriting')
await Promise.all(Array.from({ length: 8 }, (_, loop) => overwrite(loop * 101)))
