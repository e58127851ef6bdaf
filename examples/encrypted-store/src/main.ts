import { createFileService } from '@holdfast/core'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { createEncryptedBlobStore } from './encrypted-blob-store.ts'

const { DATA = './data', MASTER_KEY = '' } = process.env

const disk = await openDiskBlobStore({ directory: DATA })
const store = createEncryptedBlobStore(disk, Buffer.from(MASTER_KEY, 'hex'))
const files = createFileService({ store, maxFileSize: 10e9 }).filesOf({
  name: 'alice',
  quota: 50e9,
})

await files.upload('hello.txt', new Blob(['Hello, holdfast']).stream())
const { content } = await files.serve('hello.txt', { range: { first: 7 } })
for await (const chunk of content) process.stdout.write(chunk)
await disk.close()
