import { createFileService } from '@holdfast/core'
import { openSqliteBlobStore } from './sqlite-blob-store.ts'

const store = openSqliteBlobStore('files.db')
const files = createFileService({ store }).filesOf({ name: 'alice', quota: 50e9 })

await files.upload('hello.txt', new Blob(['Hello, holdfast']).stream())
const { content } = await files.serve('hello.txt', { range: { first: 7 } })
for await (const chunk of content) process.stdout.write(chunk)
store.close()
