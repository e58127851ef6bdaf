import { createServer } from 'node:http'
import { createFileService, resolveRange, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { expect } from 'chai'
import { type Answer, exchange, until } from '@holdfast/testing'
import { createApp } from '../../src/app.ts'
import type { RouterOptions } from '../../src/options.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { collectAudit } from '../support/collected-audit.ts'
import { collectLog } from '../support/collected-log.ts'
import { listenAsDescribed } from '../support/listening.ts'

const small = Buffer.from(Uint8Array.from({ length: 4096 }, (_, index) => index % 256))
const large = Buffer.alloc(300_000, 'x')

/** A store that has small blobs in memory, and counts what is opened and closed. Opening waits while it is held. */
function createStore(smallest = 65_536) {
  const store = createMemoryBlobStore()
  const counts = { asked: 0, opened: 0, closed: 0 }
  const gate: { held: Promise<unknown> } = { held: Promise.resolve() }
  const faults: { put?: Error } = {}
  const put: BlobStore['put'] = async (...upload) => {
    if (faults.put) throw faults.put
    return store.put(...upload)
  }
  const open: BlobStore['open'] = async (key, options = {}) => {
    counts.asked++
    await gate.held
    const blob = await store.open(key)
    const info = blob?.info
    if (blob === undefined || info === undefined) return undefined
    const range = resolveRange(options.range, info.size)
    const content = info.size === large.length ? large : info.size === 0 ? Buffer.alloc(0) : small
    const { offset, length } = range ?? { offset: 0, length: 0 }
    const bytes = content.subarray(offset, offset + length)
    counts.opened++
    return {
      ...(info.size <= smallest ? { bytes } : {}),
      info,
      range,
      content: (async function* () {
        if (bytes.length > 0) yield bytes
      })(),
      close: async () => {
        counts.closed++
      },
    }
  }
  return { counts, gate, faults, store: { ...store, open, put } satisfies BlobStore }
}

/** The application on a server of ours, which may take the fast path, and on Node's own, which may not. */
export async function runBoth(options: RouterOptions & { readonly smallest?: number } = {}) {
  const { store, counts, gate, faults } = createStore(options.smallest)
  const verified: string[] = []
  const service = createFileService({
    store,
    credentials: createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }]),
    verifyPassword: async (password, hash) => {
      verified.push(password)
      return password === hash
    },
  })
  const files = service.filesOf({ name: 'demo' })
  const contents = { 'a.bin': small, 'b.html': small, 'no-type.x1': small, 'large.txt': large }
  for (const [name, content] of Object.entries({ ...contents, 'empty.txt': Buffer.alloc(0) })) {
    await files.upload(
      name,
      (async function* () {
        yield content
      })(),
    )
  }
  const log = collectLog()
  const audit = collectAudit()
  const app = createApp(service, { log, audit: audit.audit, ...options })
  let handled = 0
  app.middleware.unshift((_ctx, next) => {
    handled++
    return next()
  })
  const fast = createHttpServer(app)
  const ordinary = createServer({ keepAliveTimeout: 60_000 })
  const answer = app.callback()
  ordinary.on('request', (incoming, outgoing) => void answer(incoming, outgoing))
  return {
    app,
    fast: await listenAsDescribed(fast),
    ordinary: await listenAsDescribed(ordinary),
    log,
    audit,
    counts,
    gate,
    faults,
    files,
    verified,
    /** How many requests have reached Koa's middleware. */
    handled: () => handled,
    async [Symbol.asyncDispose]() {
      for (const server of [fast, ordinary]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

export type Both = Awaited<ReturnType<typeof runBoth>>

/** An answer without what is another in each. */
export function stable({ status, headers, body }: Answer) {
  const { date, 'x-request-id': id, ...rest } = Object.fromEntries(headers)
  if (status === 200 && body === 'OK' && rest['etag']) rest['etag'] = 'of an upload'
  return { status, body, headers: rest, hasDate: date !== undefined, hasId: id !== undefined }
}

export async function answers({ fast, ordinary, log }: Both, data: Uint8Array) {
  const before = log.lines.length
  const [one, other] = [await exchange(fast.port, data), await exchange(ordinary.port, data)]
  await until('both are logged', () => log.lines.length === before + 2)
  const ids = log.lines.slice(before).map(({ fields }) => fields['requestId'])
  expect(ids).to.have.members([one, other].map(({ headers }) => headers.get('x-request-id')))
  const lines = log.lines.slice(before).map(({ level, fields, message }) => {
    const { requestId, durationMs, bytesOut, ...rest } = fields
    const kinds = [typeof requestId, typeof durationMs, typeof bytesOut]
    return { level, message, kinds, ...rest }
  })
  return { one, other, lines }
}
