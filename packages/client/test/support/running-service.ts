import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createFileService, type BlobStore, type CustomerFiles, type Right } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { createClient, type Client, type ClientOptions } from '../../src/index.ts'

/** A service on a free port, whose store is in memory. */
export interface RunningService extends AsyncDisposable {
  readonly port: number
  /** The customer's files, without a client. */
  readonly files: CustomerFiles
  /** The method and the path of each request, without its query, in their order. */
  readonly requests: string[]
}

export const login = { name: 'zoë', password: 'sésame' }

export interface ServiceOptions {
  /** Default: a new one in memory. */
  readonly store?: BlobStore
  /** The customer. */
  readonly customer?: Readonly<Record<keyof typeof login, string>>
  /** Further logins of the customer, whose password is the login's name. Default: none. */
  readonly logins?: Readonly<Record<string, readonly Right[]>>
  /** How long replaced and deleted files are kept. Default: they are gone. */
  readonly keepReplacedMs?: number
  /** Origins whose scripts may use it. */
  readonly corsOrigins?: readonly string[]
  /** Default: a free one. */
  readonly port?: number
}

export async function startService({
  store = createMemoryBlobStore(),
  customer = login,
  logins = {},
  keepReplacedMs,
  corsOrigins = [],
  port = 0,
}: ServiceOptions = {}): Promise<RunningService> {
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([
      { name: customer.name, passwordHash: customer.password },
      ...Object.entries(logins).map(([name, may]) => ({
        name: `${customer.name}/${name}`,
        login: name,
        passwordHash: name,
        may,
      })),
    ]),
    verifyPassword: async (password, hash) => password === hash,
    createSha256: () => createHash('sha256'),
    links: { createSignature: (key) => createHmac('sha256', key) },
    ...(keepReplacedMs !== undefined && { keepReplacedMs }),
  })
  const requests: string[] = []
  const server = createHttpServer(createApp(service, { corsOrigins }))
  server.prependListener('request', ({ method = '', url = '' }) => {
    requests.push(`${method} ${/^[^?]*/.exec(url)?.[0]}`)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    files: service.filesOf({ name: customer.name }),
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** A client of the service, or of a line that leads to it. */
export function clientOf(
  { port }: { readonly port: number },
  options: Partial<ClientOptions> = {},
): Client {
  return createClient({ url: `http://127.0.0.1:${port}`, ...login, ...options })
}
