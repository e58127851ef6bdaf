import { HoldfastError, noAnswerError } from '../shared/holdfast-error.ts'
import { requireName } from '../shared/require.ts'
import {
  shortLivedChunks,
  reusing,
  type ReusingChunks,
  type RequestBody,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '../shared/transport.ts'
import type { Access } from './access.ts'
import {
  requireExpected,
  type ExpectedAnswer,
  foreignAnswerError,
  problemOf,
  type Shape,
} from './answers.ts'
import type { RetryPolicy, Retry } from './with-retries.ts'

/** Sends the requests of one customer, or of one link, to one server. */
export interface Requests extends Pick<Access, 'mayRead'> {
  /** Whether the server has answered any request yet. */
  hasAnswered(): boolean
  /** Whether it is unknown how much of a body has been sent until the answer comes. */
  readonly isSilent: boolean
  /** The URL for a path such as `list`. */
  urlOf(path: string): URL
  /**
   * The URL of a file, for one kind of request.
   *
   * @throws HoldfastError, `invalid-file-name` for a name that no URL can have
   */
  urlOfFile(
    verb: 'upload' | 'serve' | 'delete' | 'link' | 'rename' | 'versions' | 'restore',
    name: string,
  ): URL
  /**
   * Sends a request; resolves with the response if it is the expected one. Its body must be read or cancelled.
   *
   * @throws HoldfastError for any other response, and if no answer comes; TypeError for an address of another server, which must not get
   * the password
   */
  send(request: Request): Promise<TransportResponse>
}

export interface Request extends Partial<Omit<TransportRequest, 'url' | 'signal'>> {
  readonly url: URL
  readonly expects: ExpectedAnswer
  readonly signal?: AbortSignal | undefined
}

/** Bytes a second, the slowest pace that is assumed for a body whose progress is unknown. */
const silentPace = 8 * 1024

/** Sends requests. A request ends if nothing is sent or received for `idleTimeoutMs`. */
export function createRequests(
  { base, query, credentials, mayRead }: Access,
  transport: Transport,
  idleTimeoutMs: number,
): Requests {
  const { isSilent = false } = transport
  let hasAnswered = false
  return {
    mayRead,
    isSilent,
    hasAnswered: () => hasAnswered,
    urlOf: (path) => new URL(`${path}${query}`, base),
    urlOfFile: (verb, name) => new URL(`${verb}/${segmentOf(name)}${query}`, base),
    async send({ method = 'GET', headers, signal, onSent, body, expects, ...request }) {
      if (request.url.origin !== base.origin) {
        throw new TypeError(`Not a URL on ${base.origin}: ${request.url.origin}`)
      }
      const taken = credentials.take()
      const watch = watchProgress(signal, idleTimeoutMs)
      if (isSilent) watch.progress((sizeOf(body) / silentPace) * 1000)
      const own = watchErrors(body, onSent, watch.abort)
      const response = await transport({
        ...request,
        ...(own.body && { body: own.body }),
        method,
        headers: { ...taken.headers, ...headers },
        signal: watch.signal,
        onSent: (bytes) => {
          watch.progress()
          own.onSent(bytes)
        },
      })
        .then((answer) => {
          own.throwIfFailed()
          hasAnswered = true
          return { ...answer, body: watch.body(answer.body) }
        })
        .catch((error: unknown) => {
          watch.end()
          own.throwIfFailed()
          throw failureOf(error, signal)
        })
      const answer = { ...response, body: withHoldfastErrors(response.body, signal) }
      if (answer.status >= 200 && answer.status < 300) {
        await requireExpected(answer, expects)
        return answer
      }
      const problem = await problemOf(answer, method)
      taken.failed(problem)
      throw problem
    },
  }
}

/** Ends a request that makes no progress. */
interface ProgressWatch {
  /** Aborts with the caller's signal, by `abort`, and when nothing has happened for too long. */
  readonly signal: AbortSignal
  readonly abort: (reason: unknown) => void
  /** Records that bytes were sent or received. The next progress may take `extraMs` longer; by default 0. */
  progress(extraMs?: number): void
  /** The same content. Time that its reader takes between chunks does not count as a standstill. */
  body(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void>
  /** Stops watching. */
  end(): void
}

/** Timers with a longer delay fire at once. */
const longestTimeoutMs = 2 ** 31 - 1

function watchProgress(outer: AbortSignal | undefined, idleTimeoutMs: number): ProgressWatch {
  const controller = new AbortController()
  const abortAsIdle = (timeoutMs: number) =>
    controller.abort(
      new Error(`nothing was sent or received for ${Math.round(timeoutMs) / 1000} s`),
    )
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const pause = () => clearTimeout(timer)
  const end = () => {
    isOver = true
    pause()
  }
  const progress = (extraMs = 0) => {
    pause()
    const timeoutMs = idleTimeoutMs + extraMs
    // Bytes still being sent after the last byte of the answer are not watched.
    if (isOver || timeoutMs > longestTimeoutMs) return
    timer = setTimeout(() => abortAsIdle(timeoutMs), timeoutMs)
  }
  progress()
  async function* watched(content: AsyncIterable<Uint8Array>) {
    try {
      progress()
      for await (const chunk of content) {
        pause()
        yield chunk
        progress()
      }
    } finally {
      end()
    }
  }
  return {
    signal: outer ? AbortSignal.any([outer, controller.signal]) : controller.signal,
    abort: (reason) => controller.abort(reason),
    progress,
    end,
    body(content) {
      pause()
      return watched(content)
    },
  }
}

function sizeOf(body: RequestBody | undefined): number {
  if (body instanceof Blob) return body.size
  return body instanceof Uint8Array ? body.length : 0
}

/**
 * Remembers errors of the caller's body and callback, to distinguish them from those of the connection. A failed callback calls `abort`.
 */
function watchErrors(
  body: RequestBody | undefined,
  onSent: ((bytes: number) => void) | undefined,
  abort: (reason: unknown) => void,
) {
  let failure: { readonly error: unknown } | undefined
  async function* watch(chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  const watched = (chunks: AsyncIterable<Uint8Array>): ReusingChunks => ({
    [Symbol.asyncIterator]: () => watch(chunks),
    [reusing]: () => watch(shortLivedChunks(chunks)),
  })
  const isWhole = body === undefined || body instanceof Uint8Array || body instanceof Blob
  return {
    body: isWhole ? body : watched(body),
    onSent(bytes: number) {
      try {
        onSent?.(bytes)
      } catch (error) {
        // Browsers only report what a listener throws, and continue.
        failure ??= { error }
        abort(error)
      }
    },
    throwIfFailed() {
      if (failure) throw failure.error
    },
  }
}

/** The content of a response; turns its errors into {@link HoldfastError}s. */
async function* withHoldfastErrors(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } catch (error) {
    throw failureOf(error, signal)
  }
}

/** The error for the caller, from an error of the connection or of the caller's body. */
function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof HoldfastError) return error
  return noAnswerError(error)
}

/** In a URL, "." and ".." are no segments, however they are encoded: they lead elsewhere. */
function segmentOf(name: string): string {
  requireName(name)
  if (name === '.' || name === '..') {
    throw new HoldfastError('invalid-file-name', `Invalid filename: it is "${name}"`, {
      status: 400,
    })
  }
  if (!name.isWellFormed()) {
    throw new HoldfastError('invalid-file-name', 'Invalid filename: it has half a character', {
      status: 400,
    })
  }
  return encodeURIComponent(name)
}

/** Reads a response to its end. */
export async function textOf({ body }: TransportResponse): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/**
 * Reads the JSON of a response.
 *
 * @throws HoldfastError, `unknown`, if it is no JSON, or `isRight` refuses its value
 */
export async function jsonOf<T>(response: TransportResponse, isRight: Shape): Promise<T> {
  const text = await textOf(response)
  const value = parsed(text)
  if (!isRight(value)) throw foreignAnswerError(response, text)
  return value as T
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A proxy answers in a format of its own.
    return undefined
  }
}

/** How a client sends its requests. */
export interface SendingOptions {
  /**
   * How often a request is sent again after no answer, or after one that may differ later: 408, 409, 429, 502, 503, 504. The first retry
   * comes after at most half a second, each further one after twice as long, up to 16 seconds, and not before the server's `Retry-After`;
   * if that is longer than a minute, the error comes at once. Progress resets the count. Default: 6, half a minute; but 4, some six
   * seconds, if the connection is refused and the server has not answered this client before.
   */
  readonly retries?: number | undefined
  /** Called before the wait for each retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
  /** How long a request may make no progress, in milliseconds. Default: two minutes. */
  readonly idleTimeoutMs?: number | undefined
  /** How requests are sent. Default: by `node:http`; in browsers by `fetch`. */
  readonly transport?: Transport | undefined
}

const defaultIdleTimeoutMs = 120_000
const defaultRetries = 6
/**
 * Used until the server has answered once. After that, a refused connection means a restart, which first waits for other requests to end.
 */
const defaultRetriesIfRefused = 4

/** Sends all requests of a client. */
interface Sender {
  readonly requests: Requests
  readonly retryPolicy: RetryPolicy
}

/** @throws RangeError for invalid numbers */
export function createSender(
  access: Access,
  transport: Transport,
  {
    retries: chosen,
    onRetry,
    idleTimeoutMs = defaultIdleTimeoutMs,
  }: Omit<SendingOptions, 'transport'>,
): Sender {
  const retries = chosen ?? defaultRetries
  if (!(Number.isInteger(retries) && retries >= 0)) {
    throw new RangeError('retries must be a whole number, 0 or more')
  }
  if (!(idleTimeoutMs > 0)) throw new RangeError('idleTimeoutMs must be greater than 0')
  const requests = createRequests(access, transport, idleTimeoutMs)
  const retriesIfRefused = () =>
    chosen === undefined && !requests.hasAnswered() ? defaultRetriesIfRefused : retries
  return {
    requests,
    retryPolicy: {
      retries,
      retriesIfRefused,
      onRetry,
      passwordHasChanged: access.credentials.passwordHasChanged,
    },
  }
}
