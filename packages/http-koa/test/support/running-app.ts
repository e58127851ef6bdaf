import { createHash, createHmac } from 'node:crypto'
import {
  createFileService,
  type BlobStore,
  type CustomerFiles,
  type FileHooks,
} from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp } from '../../src/app.ts'
import type { RouterOptions } from '../../src/options.ts'
import { createHttpServer, type HttpServerOptions } from '../../src/server/http-server.ts'
import { collectLog, type CollectedLog } from './collected-log.ts'
import { listen, listenAsDescribed, type Listening } from './listening.ts'

export interface RunningApp extends Listening {
  readonly log: CollectedLog
  /** The files of the one customer there is. */
  readonly files: CustomerFiles
  /** The names of those files. */
  names(): Promise<readonly string[]>
}

export interface RunOptions
  extends
    HttpServerOptions,
    Pick<
      RouterOptions,
      | 'audit'
      | 'trustedProxies'
      | 'onAnswered'
      | 'onLogin'
      | 'corsOrigins'
      | 'links'
      | 'requestCounters'
      | 'maxRequests'
      | 'isExempt'
      | 'resumable'
      | 'resumableDraft'
    > {
  readonly store?: BlobStore
  readonly maxFileSize?: number
  readonly maxUnfinishedUploads?: number
  readonly hooks?: FileHooks
  /** Default: what is replaced or deleted is gone. */
  readonly keepReplacedMs?: number
}

/** What proves to be the one customer there is. */
export const auth = { 'x-auth-name': 'demo', 'x-auth-password': 'sesame' }

/** The whole application on its own server, with one customer `demo`. */
export async function runApp({
  store = createMemoryBlobStore(),
  maxFileSize = Infinity,
  maxUnfinishedUploads = 1_000,
  hooks = {},
  keepReplacedMs,
  audit,
  onAnswered,
  onLogin,
  trustedProxies = [],
  corsOrigins = [],
  links = true,
  requestCounters,
  maxRequests = Infinity,
  isExempt = () => false,
  resumable = true,
  resumableDraft = false,
  ...serverOptions
}: RunOptions = {}): Promise<RunningApp> {
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }]),
    verifyPassword: async (password, hash) => password === hash,
    maxFileSize,
    maxUnfinishedUploads,
    createSha256: () => createHash('sha256'),
    links: { createSignature: (key) => createHmac('sha256', key) },
    hooks,
    ...(keepReplacedMs !== undefined && { keepReplacedMs }),
  })
  const log = collectLog()
  const server = createHttpServer(
    createApp(service, {
      log,
      trustedProxies,
      corsOrigins,
      links,
      maxRequests,
      isExempt,
      resumable,
      resumableDraft,
      ...(requestCounters && { requestCounters }),
      ...(audit && { audit }),
      ...(onAnswered && { onAnswered }),
      ...(onLogin && { onLogin }),
    }),
    serverOptions,
  )
  const files = service.filesOf({ name: 'demo' })
  return {
    // The draft is not described while it is one.
    ...(await (resumableDraft ? listen : listenAsDescribed)(server)),
    log,
    files,
    async names() {
      const names: string[] = []
      for await (const page of files.list()) names.push(...page)
      return names
    },
  }
}
