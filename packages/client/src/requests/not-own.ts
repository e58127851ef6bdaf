import { HoldfastError } from '../errors/holdfast-error.ts'
import type { TransportResponse } from '../transport/transport.ts'

/** What a proxy means by its own answer. */
const proxyMeans: Readonly<Record<number, string>> = {
  401: 'does not let this request through',
  403: 'does not let this request through',
  407: 'does not let this request through',
  408: 'did not get the request in time',
  413: 'takes no request as large as this',
  429: 'gets too many requests',
  431: 'takes no headers as large as these',
  500: 'has failed',
  502: 'does not reach the server behind it',
  503: 'does not reach the server behind it',
  504: 'gets no answer from the server behind it',
}

/** The error that a response is which is not holdfast's; `body` is what was read of it. */
export function notOwn(response: TransportResponse, body: string): HoldfastError {
  const { status } = response
  const meaning = proxyMeans[status]
  const sentence =
    meaning === undefined
      ? `There is no holdfast at this address: what is there answers ${status}`
      : `Something before the server, such as a proxy, ${meaning} (${status})`
  const seconds = Number(response.header('retry-after') ?? NaN)
  return new HoldfastError('unknown', `${sentence}${wordsOf(response, body)}`, {
    status,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    requestId: response.header('x-request-id'),
  })
}

/** The beginning of a text for people. A page is none. */
function wordsOf(response: TransportResponse, body: string): string {
  const text = body.slice(0, 200).trim()
  const isPage = /html|xml/i.test(response.header('content-type') ?? '') || text.startsWith('<')
  return isPage || text === '' ? '' : `: ${text}`
}
