import { createClient, type Transport } from '@holdfast/client/browser'
import { signal } from '@preact/signals'
import type { Connection } from '../../page/api/connection.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  /** The names in the body. */
  readonly names: readonly string[]
  readonly init: { readonly keepalive: boolean; readonly signal?: AbortSignal }
  answer(response?: Response): Promise<void>
  /** Answers by lines that come when the test says so. */
  answerStream(lines: AsyncIterable<Uint8Array>): void
  /** Answers with a line for each name: that the file is deleted, or the status and the message for it. */
  answerLines(
    errors?: Readonly<Record<string, readonly [status: number, message: string]>>,
  ): Promise<void>
  fail(status: number, message?: string): Promise<void>
  /** Ends the request without an answer. */
  breakOff(): Promise<void>
}

const base = 'http://files.example/'

/** A connection whose requests are answered when the test says so. */
export function fakeConnection() {
  const asked: Asked[] = []
  const transport: Transport = ({ method, url, body: sent, keepalive = false, signal }) =>
    new Promise((resolve, reject) => {
      const answer = async (response = new Response('OK')) => {
        const bytes = await response.bytes()
        resolve({
          status: response.status,
          header: (name) =>
            response.headers.get(name) ?? new Headers(headersOf(bytes)).get(name) ?? undefined,
          body: ReadableStream.from([bytes]),
        })
        await settled()
      }
      const names = sent instanceof Uint8Array ? namesIn(sent) : []
      asked.push({
        method,
        names,
        path: url.href.slice(base.length),
        init: { keepalive, signal },
        answer,
        answerStream: (stream) =>
          resolve({
            status: 200,
            header: (name) => (name === 'content-type' ? 'application/x-ndjson' : undefined),
            body: stream,
          }),
        answerLines(errors = {}) {
          const lines = names.map((filename) => {
            const [statusCode, message] = errors[filename] ?? [200, 'OK']
            return `${JSON.stringify({ filename, statusCode, message })}\n`
          })
          const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8' }
          return answer(new Response(lines.join(''), { headers }))
        },
        fail: (status, message = '') =>
          answer(Response.json({ statusCode: status, error: '', message }, { status })),
        async breakOff() {
          reject(new Error('The connection failed'))
          await settled()
        },
      })
    })
  const client = createClient({
    url: base,
    name: 'anna',
    password: 'sesame',
    retries: 0,
    idleTimeoutMs: Infinity,
    transport,
  })
  const connection: Connection = {
    customer: 'anna',
    client,
    downloads: client,
    isRefused: signal(false),
    renew: () => {},
    url: (path) => `${base}${path}`,
  }
  return { connection, asked, lines: () => asked.map(({ method, path }) => `${method} ${path}`) }
}

function namesIn(body: Uint8Array): readonly string[] {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as readonly string[]
  } catch {
    // An upload.
    return []
  }
}

/** Without which no answer is a server's. */
const headersOf = ({ length }: Uint8Array) => ({
  'Content-Length': String(length),
  'Content-Disposition': 'attachment',
  'Last-Modified': new Date(0).toUTCString(),
  ETag: '"1"',
})

/** Waits until all that was promised has been done. */
export const settled = () => new Promise<void>((done) => setImmediate(done))
