import { createServer } from 'node:http'
import { createFileService } from '@holdfast/core'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { createHandler } from './handler.ts'

const { PORT = '3000', DATA = './data', MAX_FILE_SIZE = 'Infinity' } = process.env
const { TOKENS = 'alice:wonderland bob:builder' } = process.env

const users = new Map(
  TOKENS.split(' ').map((pair) => {
    const [user = '', token = ''] = pair.split(':')
    return [`Bearer ${token}`, user]
  }),
)
const store = await openDiskBlobStore({ directory: DATA })
const service = createFileService({ store, maxFileSize: Number(MAX_FILE_SIZE) })
const handler = createHandler((request) => {
  const user = users.get(request.headers.authorization ?? '')
  return user === undefined ? undefined : service.filesOf({ name: user, quota: 10e9 })
})

// Node gives a whole request five minutes, which is little for a large file on a slow line. An idle client has one.
const server = createServer({ requestTimeout: 0 }, handler).setTimeout(60_000)
// With `Expect: 100-continue` the handler says when it wants the body, and not Node.
server.on('checkContinue', handler)
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : PORT
  console.log(`Listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => server.close(() => void store.close()))
