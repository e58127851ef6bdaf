import { createFileService, createLoginBrake } from '@holdfast/core'
import { createMemoryFailureCounter } from '@holdfast/core/memory'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { createPasswordVerifier } from '@holdfast/passwords'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { openPool } from './open-pool.ts'
import { createPostgresCredentialSource } from './postgres-credential-source.ts'

const { PORT = '3000', DATA = './data' } = process.env
const { DATABASE_URL = 'postgres://localhost/files' } = process.env

const pool = openPool(DATABASE_URL, (error) => console.error(`Connection lost: ${error.message}`))
const store = await openDiskBlobStore({ directory: DATA })
const service = createFileService({
  store,
  credentials: createPostgresCredentialSource(pool),
  verifyPassword: createPasswordVerifier(),
  loginBrake: createLoginBrake({ counter: createMemoryFailureCounter({ windowMs: 60_000 }) }),
})

const server = createHttpServer(createApp(service, { log: console }))
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : PORT
  console.log(`Listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => server.close(() => void Promise.all([store.close(), pool.end()])))
