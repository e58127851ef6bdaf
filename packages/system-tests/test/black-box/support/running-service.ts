import { createHmac, scrypt } from 'node:crypto'
import { once } from 'node:events'
import { request, type ClientRequest, type RequestOptions } from 'node:http'
import { request as requestTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Connection, type ConnectionOptions, openConnection } from '@holdfast/testing'
import { watchAnswers, type WatchedAnswers } from '@holdfast/testing/api-description'
import {
  createFileService,
  createLinkBrake,
  createLoginBrake,
  type BlobStore,
  type Credential,
  type LoginBrakeOptions,
} from '@holdfast/core'
import { createMemoryCredentialSource, createMemoryFailureCounter } from '@holdfast/core/memory'
import {
  createPasswordVerifier,
  hashPassword,
  type ComputeScrypt,
  type ScryptCost,
} from '@holdfast/passwords'
import {
  createApp,
  createHttpServer,
  createHttpsServer,
  type ServerCertificate,
} from '@holdfast/http-koa'
import type { Answer } from './answer.ts'
import { joinServers, joinWorkers, type ServiceParts } from './joined-workers.ts'
import { createCustomerClient, type Credentials, type CustomerClient } from './customer-client.ts'

/** What the service is tested on. */
export interface OpenedStore {
  readonly store: BlobStore
  /** What is left behind by uploads that were not published. */
  litter(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface ServiceOptions {
  /** A further login of a customer has the name `CUSTOMER/LOGIN`. */
  readonly customers?: readonly (Credentials & Omit<Credential, 'passwordHash'>)[]
  readonly maxFileSize?: number
  readonly brake?: Omit<LoginBrakeOptions, 'counter'>
  /** How many passwords may wait for their hash; default: 100. One hash is computed at a time. */
  readonly hashQueueLimit?: number
  /** What each hash waits for before it is computed. Default: nothing. */
  readonly beforeHash?: () => Promise<void>
  /** Puts something between the service and its store. */
  readonly wrap?: (store: BlobStore) => BlobStore
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

export interface RunningService {
  readonly url: string
  readonly port: number
  readonly anna: CustomerClient
  /** How many password hashes were computed. */
  readonly hashes: () => number
  readonly log: readonly LogLine[]
  litter(): Promise<readonly string[]>
  as(credentials: Credentials): CustomerClient
  /** Begins a request with Node's own client. */
  request(path: string, options?: RequestOptions): ClientRequest
  connect(options?: ConnectionOptions): Promise<Connection>
  /** Sends these bytes on a connection of their own, and takes the one answer. */
  exchange(...data: readonly (string | Uint8Array)[]): Promise<Answer>
  [Symbol.asyncDispose](): Promise<void>
}

export type StartService = (options?: ServiceOptions) => Promise<RunningService>

/** The customer of every test that needs no other. */
export const anna = { name: 'anna', password: 'correct horse' }

/** What {@link anna} costs to hash: next to nothing. */
const cost: ScryptCost = { ln: 4, r: 8, p: 1 }

/** The service as a server composes it, on a port of its own; with a certificate it speaks HTTPS. */
export async function startService(
  openStore: () => Promise<OpenedStore>,
  options: ServiceOptions,
  certificate?: ServerCertificate,
  workers = 1,
): Promise<RunningService> {
  const { customers = [anna], maxFileSize = Infinity, brake, wrap } = options
  const { hashQueueLimit = 100, beforeHash = async () => {} } = options
  const opened = await openStore()
  const known = await Promise.all(customers.map(toCredential))
  let hashes = 0
  const parts = {
    store: wrap ? wrap(opened.store) : opened.store,
    credentials: createMemoryCredentialSource(known),
    failures: createMemoryFailureCounter({ windowMs: 60_000 }),
    verifyPassword: createPasswordVerifier({
      cost,
      concurrency: 1,
      queueLimit: hashQueueLimit,
      computeScrypt: async (...args) => {
        hashes++
        await beforeHash()
        return computeScrypt(...args)
      },
    }),
  }
  const log: LogLine[] = []
  const answers: WatchedAnswers[] = []
  const isTls = certificate !== undefined
  const serve = ({ failures, linkFailures = failures, links, ...rest }: ServiceParts) => {
    const loginBrake = createLoginBrake({ counter: failures, ...brake })
    const service = createFileService({
      ...rest,
      loginBrake,
      links: {
        brake: createLinkBrake({ counter: linkFailures, ...brake }),
        createSignature: (key) => createHmac('sha256', key),
        ...links,
      },
      maxFileSize,
    })
    const app = createApp(service, { log: collectInto(log) })
    const server = isTls ? createHttpsServer(app, certificate) : createHttpServer(app)
    answers.push(watchAnswers(server))
    return server
  }
  const server =
    workers === 1
      ? serve(parts)
      : joinServers((await joinWorkers(parts, known, workers, brake)).map(serve))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`
  const as = (credentials: Credentials) => createCustomerClient(url, credentials)
  const connect = (options?: ConnectionOptions) => openConnection(port, { isTls, ...options })

  return {
    url,
    port,
    anna: as(anna),
    hashes: () => hashes,
    log,
    litter: () => opened.litter(),
    as,
    request: (path, options = {}) => (isTls ? requestTls : request)(`${url}${path}`, options),
    connect,
    async exchange(...data) {
      using connection = await connect()
      await connection.send(...data)
      return await connection.answer()
    },
    async [Symbol.asyncDispose]() {
      await closeServer(server)
      await opened.close()
      for (const each of answers) each.expectDescribed()
    },
  }
}

async function toCredential({
  password,
  ...customer
}: Credentials & Omit<Credential, 'passwordHash'>): Promise<Credential> {
  const [, login] = customer.name.split('/')
  const passwordHash = await hashPassword(password, cost)
  return { ...customer, ...(login !== undefined && { login }), passwordHash }
}

const computeScrypt: ComputeScrypt = (password, salt, length, { ln, r, p }) =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, length, { N: 2 ** ln, r, p }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    )
  })

function collectInto(lines: LogLine[]) {
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields: fields as LogLine['fields'], message })
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function closeServer(server: {
  close(done: () => void): unknown
  closeAllConnections(): void
}): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
