import { createFileService, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { type Answer, type Connection, exchange, openConnection } from '@holdfast/testing'
import { createApp } from '../../src/app.ts'
import type { RouterOptions } from '../../src/options.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { collectLog, type CollectedLog } from './collected-log.ts'
import { listenAsDescribed, type Listening } from './listening.ts'
import { request } from './request.ts'

export interface LimitedApp extends Listening {
  readonly log: CollectedLog
  /** The answer to GET /list, on a connection of its own: 200 or 400 as there are files or not. */
  list(customer?: string): Promise<Answer>
  /** Sends the head of an upload of a TiB, and a few bytes of it. */
  beginUpload(customer?: string): Promise<Connection>
}

export interface LimitedAppOptions extends Pick<
  RouterOptions,
  'maxRequests' | 'maxRequestsPerCustomer'
> {
  readonly store?: BlobStore
  readonly idleTimeoutMs?: number
  /** What is waited for when a right password is checked. Default: nothing. */
  readonly beforeLogin?: () => Promise<unknown>
  /** What is waited for when a wrong password is checked. Default: nothing. */
  readonly beforeRefusal?: () => Promise<unknown>
}

export const headersOf = (customer: string, password = 'sesame') => ({
  'x-auth-name': customer,
  'x-auth-password': password,
})

/** The application with limits on requests, and with two customers, `demo` and `other`. */
export async function runLimitedApp({
  store = createMemoryBlobStore(),
  idleTimeoutMs = 60_000,
  beforeLogin = async () => {},
  beforeRefusal = async () => {},
  ...limits
}: LimitedAppOptions): Promise<LimitedApp> {
  const credential = (name: string) => ({ name, passwordHash: 'sesame' })
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([credential('demo'), credential('other')]),
    async verifyPassword(password, hash) {
      const isRight = password === hash
      await (isRight ? beforeLogin() : beforeRefusal())
      return isRight
    },
  })
  const log = collectLog()
  const listening = await listenAsDescribed(
    createHttpServer(createApp(service, { log, ...limits }), { idleTimeoutMs }),
  )
  return {
    ...listening,
    log,
    list: (customer = 'demo') =>
      exchange(listening.port, request('GET', '/list', headersOf(customer))),
    async beginUpload(customer = 'demo') {
      const connection = await openConnection(listening.port, { staysOpen: true })
      const headers = { ...headersOf(customer), 'Content-Length': 2 ** 40 }
      connection.write(request('PUT', '/upload/endless', headers))
      connection.write('some')
      return connection
    },
  }
}
