import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenBlob } from '@holdfast/core'
import { endOfTurn } from '../exchange/end-of-turn.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { onExchangeEnd } from '../exchange/endings.ts'
import { leaveOpened } from '../exchange/opened-file.ts'
import { isConditional } from '../http/conditional.ts'
import {
  contentHeaders,
  isPlainName,
  plainDisposition,
  validatorHeaders,
} from '../answer/file-headers.ts'
import { mediaTypeOf } from '../answer/media-type.ts'
import { step } from '../answer/step.ts'
import type { Enter, FastPath } from './enter.ts'
import { isClosed } from '../exchange/is-closed.ts'

/**
 * The fast path of GET: of files with plain names, without any condition, by customers who are let in, of what a store has
 * in memory. Nearly all the time of such a request goes into the steps of a framework that it does not need.
 */
export function createFastServe(prefix: string, enter: Enter): FastPath {
  const start = `${prefix}/serve/`

  const answer = async (exchange: Exchange, name: string): Promise<boolean> => {
    const { response, requestId, files, leave } = await enter(exchange, 'serve')
    const opening = files.serve(name, { reuseChunks: true })
    const file = await opening.catch(() => undefined)
    if (file?.bytes) await endOfTurn()
    if (file?.bytes === undefined || isClosed(response)) {
      leave()
      leaveOpened(exchange, opening)
      // The client may have left while the file was opened.
      return isClosed(response)
    }
    onExchangeEnd(exchange, leave)
    try {
      send(response, file, requestId)
    } finally {
      // The response is whole, however closing ends.
      file.close().catch(() => {})
    }
    return true
  }

  return (exchange) => {
    const name = nameAskedFor(exchange.request, start)
    return name === undefined ? undefined : answer(exchange, name)
  }
}

/** The plain name of a file that is asked for without any condition; `undefined` for all other requests. */
function nameAskedFor(request: IncomingMessage, start: string): string | undefined {
  const { url = '', headers } = request
  if (!url.startsWith(start)) return undefined
  const isSpecial =
    headers.range !== undefined ||
    headers['content-length'] !== undefined ||
    headers['transfer-encoding'] !== undefined ||
    isConditional(headers)
  const name = url.slice(start.length)
  return isSpecial || !isPlainName(name) ? undefined : name
}

/** In the order in which the application has them. */
function send(response: ServerResponse, { info, bytes }: OpenBlob, requestId: string): void {
  response.writeHead(200, [
    'x-request-id',
    requestId,
    ...validatorHeaders(info),
    'Content-Type',
    mediaTypeOf(info.name),
    'Content-Disposition',
    plainDisposition(info.name),
    ...contentHeaders,
    'Content-Length',
    `${info.size}`,
  ])
  step('answer-ready')
  response.end(bytes)
}
