import { writeSync } from 'node:fs'
import { piece } from '@holdfast/testing'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Appends to an upload until standard input has something, and writes what has come of it.
const [directory = '', id = '', offset = '0', length = '0'] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })

async function* stalling() {
  yield* piece(Number(offset), Number(length))
  writeSync(1, 'stalled\n')
  await new Promise((resolve) => process.stdin.once('data', resolve))
  yield Buffer.from('of the one who was suspended')
}

const appended = await store.resumable
  .append({ customer: 'alice', id }, Number(offset), stalling())
  .catch((error: unknown) => (error instanceof Error && 'code' in error ? error.code : error))
writeSync(1, `${String(appended)}\n`)
await store.close()
process.exit()
