import { createFileService } from '@holdfast/core'
import { createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { createThriftyBlobStore } from './thrifty-blob-store.ts'

const credentials = createMemoryCredentialSource([{ name: 'alice', passwordHash: 'open sesame' }])
const verifyPassword = async (password: string, hash?: string) => password === hash
const service = createFileService({ store: createThriftyBlobStore(), credentials, verifyPassword })
const server = createHttpServer(createApp(service))
server.listen(0, '127.0.0.1', () => console.log(server.address()))
