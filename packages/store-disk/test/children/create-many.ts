import { isFileServiceError } from '@holdfast/core'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Tries to create blobs 0 to `count - 1` and prints, as JSON, which of them are its own.
const [directory = '', count = '0'] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
const won: string[] = []

async function* content() {
  yield Buffer.from(String(process.pid))
}

for (let name = 0; name < Number(count); name++) {
  try {
    await store.put({ customer: 'alice', name: `${name}` }, content(), { createOnly: true })
    won.push(`${name}`)
  } catch (error) {
    if (!isFileServiceError(error, 'already-exists')) throw error
  }
}
await store.close()
console.log(JSON.stringify({ pid: process.pid, won }))
