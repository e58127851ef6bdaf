import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Puts a mebibyte of a blob that never ends, says so, and waits to be killed.
const [directory = ''] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
const keepAlive = setInterval(() => {}, 1000)

async function* endless() {
  yield Buffer.alloc(1024 * 1024, 'new')
  console.log('stalled')
  await new Promise(() => {})
}

await store.put({ customer: 'alice', name: 'report.pdf' }, endless())
clearInterval(keepAlive)
