import { lookup as lookUp, type LookupAddress } from 'node:dns'
import { Agent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Webhook } from 'standardwebhooks'
import { messageOf } from '@holdfast/core'
import type { OutgoingEvent } from './event-of.ts'

/** How the receiver answered. */
export type PostResult =
  /** Status 2xx. */
  | { readonly outcome: 'accepted' }
  /** Status 410: it does not want any more events. */
  | { readonly outcome: 'gone' }
  /** Another status, no answer in time, or no connection. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly retryAfterMs?: number }

/** Sends events to one receiver. */
export interface EventPoster {
  /** Sends `event` once; never rejects. It ends early with `failed` when `signal` aborts. */
  post(event: OutgoingEvent, signal?: AbortSignal): Promise<PostResult>
  close(): void
}

export interface EventPosterOptions {
  readonly url: string
  /** The secrets in use, `whsec_…`: the event has a signature by each. Called for every request. */
  readonly secrets: () => readonly string[]
  /** Whether the receiver may have an address of this machine or of a private network. */
  readonly allowPrivate: boolean
  /** How long to wait for the answer, in milliseconds. Default: 15 seconds. */
  readonly timeoutMs?: number
}

/** An address to which no event may be sent. */
class PrivateAddressError extends Error {
  constructor(host: string, address: string) {
    super(`${host} has the address ${address}, which is not public; see --webhook-allow-private`)
  }
}

/** How much of an answer is read, so that the connection can be used again. */
const longestAnswer = 64 * 1024

/** How long an answer may take after its status, in milliseconds. */
const longestBodyMs = 1_000

/**
 * Sends events as CloudEvents in structured mode, signed by Standard Webhooks. Unless `allowPrivate`, every address of the receiver must
 * be public, and the connection is made to the addresses that were checked: a name that changes its address cannot lead elsewhere.
 * Redirects are not followed. The connection is kept for the next event.
 */
export function createEventPoster(options: EventPosterOptions): EventPoster {
  const { secrets, allowPrivate, timeoutMs = 15_000 } = options
  const url = new URL(options.url)
  const isSecure = url.protocol === 'https:'
  const agent = new (isSecure ? SecureAgent : Agent)({ keepAlive: true, maxSockets: 1 })
  const lookup = allowPrivate ? undefined : lookUpPublic

  const send = (event: OutgoingEvent, signal: AbortSignal): ClientRequest => {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    // For an address no lookup is made.
    if (!allowPrivate && isIP(host) !== 0) requirePublic(host, host)
    return (isSecure ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent,
      signal,
      ...(lookup && { lookup }),
      headers: { ...signedHeaders(event, secrets()), 'user-agent': 'holdfast' },
    }).end(event.body)
  }

  return {
    async post(event, signal) {
      // Not `AbortSignal.any`: a signal that lives long would remember each request.
      const cut = new AbortController()
      const abort = () => cut.abort()
      const late = new Error(`no answer within ${timeoutMs / 1000} s`)
      const timer = setTimeout(() => cut.abort(late), timeoutMs)
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
      try {
        const response = await answerOf(send(event, cut.signal))
        drain(response)
        return resultOf(response)
      } catch (error) {
        return failed(reasonOf(cut.signal.reason === late ? late : error))
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
    },
    close: () => agent.destroy(),
  }
}

/** The headers of an event, with a signature by each of `secrets`. */
export function signedHeaders(
  { id, body }: OutgoingEvent,
  secrets: readonly string[],
  now = new Date(),
): Record<string, string> {
  return {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'content-length': `${Buffer.byteLength(body)}`,
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  }
}

/** Whether `address` is one that everyone in the internet can use. */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  return parsed.range() === 'unicast'
}

function requirePublic(host: string, address: string): void {
  if (!isPublic(address)) throw new PrivateAddressError(host, address)
}

/** As `dns.lookup`, but fails if one of the addresses is not public. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, [])
    try {
      for (const { address } of addresses) requirePublic(hostname, address)
    } catch (refusal) {
      return callback(refusal as Error, [])
    }
    const [first] = addresses
    if (options.all || first === undefined) return callback(null, addresses)
    callback(null, first.address, first.family)
  })
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
}

/** Reads the rest of an answer, which counts already. The next event waits for the connection. */
function drain(response: IncomingMessage): void {
  let length = 0
  const timer = setTimeout(() => response.destroy(), longestBodyMs)
  response.on('close', () => clearTimeout(timer))
  response.on('error', () => {})
  response.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > longestAnswer) response.destroy()
  })
}

function resultOf({ statusCode = 0, headers }: IncomingMessage): PostResult {
  if (statusCode >= 200 && statusCode < 300) return { outcome: 'accepted' }
  if (statusCode === 410) return { outcome: 'gone' }
  const seconds = Number(headers['retry-after'])
  const isWait = statusCode === 429 || statusCode === 503
  const result = failed(`status ${statusCode}`)
  return isWait && seconds > 0 ? { ...result, retryAfterMs: seconds * 1000 } : result
}

function failed(reason: string) {
  return { outcome: 'failed', reason } as const
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return messageOf(error)
}
