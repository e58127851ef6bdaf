import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { until } from '@holdfast/testing'
import { watchAnswers } from '@holdfast/testing/api-description'
import { createFileService, type BlobStore, type CustomerFiles } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp, createHttpServer, type HttpLog } from '@holdfast/http-koa'

/** The whole application on its own server, for the customers `demo` and `other`. */
export interface FuzzService {
  readonly port: number
  readonly demo: CustomerFiles
  readonly other: CustomerFiles
  /** Throws when anything was logged as a fault since the last call. */
  throwFault(): void
  /** Throws when a connection stays that nobody uses, or an answer was not as docs/openapi.yaml describes it. */
  close(): Promise<void>
}

/** The password of `demo`: whoever sends none of it is a stranger. */
export const password = 'sesame-c0ffee'

/** The password of the customer `other`, which no input has. */
const otherPassword = 'mellon-4b1d'

export async function startFuzzService(
  store: BlobStore = createMemoryBlobStore(),
  options: { readonly resumableDraft?: boolean } = {},
): Promise<FuzzService> {
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([
      { name: 'demo', passwordHash: password },
      { name: 'other', passwordHash: otherPassword },
    ]),
    createSha256: () => createHash('sha256'),
    verifyPassword: async (given, hash) => given === hash,
  })
  const faults: unknown[] = []
  const note = (fields: object, message: string) => void faults.push({ ...fields, message })
  const log: HttpLog = { info() {}, warn() {}, error: note }
  const server = createHttpServer(createApp(service, { log, ...options }), { idleTimeoutMs: 2_000 })
  const answers = watchAnswers(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connections = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
    })
  return {
    port: (server.address() as AddressInfo).port,
    demo: service.filesOf({ name: 'demo' }),
    other: service.filesOf({ name: 'other' }),
    throwFault() {
      const [first] = faults.splice(0)
      if (first !== undefined) throw new Error('A fault was logged', { cause: first })
    },
    async close() {
      try {
        await until('all connections ended', async () => (await connections()) === 0)
      } finally {
        server.close()
        server.closeAllConnections()
      }
      // The description has no draft.
      if (options.resumableDraft !== true) answers.expectDescribed()
    },
  }
}
