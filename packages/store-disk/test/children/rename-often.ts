import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Renames the only blob of alice again and again, among a few names, as far as others let it; prints how often it did.
const [directory = '', count = ''] = process.argv.slice(2)
const names = ['a', 'b', 'c']
const store = await openDiskBlobStore({ directory })
let renamed = 0
for (let turn = 0; turn < Number(count); turn++) {
  const [name = '', to = ''] = names.toSorted(() => Math.random() - 0.5)
  const createOnly = turn % 3 > 0
  const info = await store
    .rename?.({ customer: 'alice', name }, to, { createOnly })
    .catch((error: unknown) => {
      if (!String(error).includes('taken')) throw error
    })
  if (info) renamed++
}
await store.close()
console.log(renamed)
