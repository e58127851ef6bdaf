import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BlobInfo, CustomerFiles } from '@holdfast/core'
import { step } from '../answer/step.ts'
import { isPlainName } from '../answer/file-headers.ts'
import { takeBodyAtHand } from '../body/body-at-hand.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { prepareUpload } from '../body/stage-upload.ts'
import type { Route } from '../exchange/answered-request.ts'
import { endOfTurn } from '../exchange/end-of-turn.ts'
import { onExchangeEnd } from '../exchange/endings.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { isClosed } from '../exchange/is-closed.ts'
import { etagOf, isConditional } from '../http/conditional.ts'
import { prepareFile } from '../multipart/prepare-file.ts'
import { takeSimpleForm } from '../multipart/simple-form.ts'
import type { AuditRecorder } from '../audit/audit-recorder.ts'
import type { Enter, FastPath } from './enter.ts'

/** A change of one file. */
interface Change {
  readonly route: Route
  readonly event: 'upload' | 'delete'
  /** Makes it, and leaves it in the exchange; `undefined` where that takes more than the fast path has. */
  readonly make: (
    exchange: Exchange,
    files: CustomerFiles,
  ) => Promise<BlobInfo | undefined> | undefined
}

/**
 * The fast path of PUT, DELETE and simple forms: of files with plain names, without any condition or digest, with a body that
 * has arrived as a whole. What fails is in the exchange, and the application answers it.
 */
export function createFastChange(prefix: string, enter: Enter, recorder: AuditRecorder): FastPath {
  const changeAskedFor = createChoice(prefix)

  const answer = async (exchange: Exchange, { route, event, make }: Change): Promise<boolean> => {
    const { state } = exchange
    const record = recorder(exchange)
    const { response, requestId, files, leave } = await enter(exchange, route)
    let stored: BlobInfo | undefined
    try {
      const making = make(exchange, files)
      if (making === undefined) {
        leave()
        return false
      }
      stored = await making
      if (stored) state.stored = stored
      exchange.recording = record(event, { file: state.fileName, bytes: stored?.size })
      await exchange.recording
    } catch (error) {
      leave()
      throw error
    }
    onExchangeEnd(exchange, leave)
    await endOfTurn()
    step('answer-ready')
    if (!isClosed(response)) send(response, requestId, stored)
    return true
  }

  return (exchange) => {
    const change = isSpecial(exchange) ? undefined : changeAskedFor(exchange.request)
    return change && answer(exchange, change)
  }
}

/** Whether the request says more than what is to be changed. */
function isSpecial({ request, awaitsContinue }: Exchange): boolean {
  const { headers } = request
  return (
    awaitsContinue ||
    request.readableDidRead ||
    request.readableEncoding !== null ||
    headers['content-range'] !== undefined ||
    headers['content-digest'] !== undefined ||
    headers['upload-complete'] !== undefined ||
    headers['upload-incomplete'] !== undefined ||
    isConditional(headers)
  )
}

function createChoice(prefix: string): (request: IncomingMessage) => Change | undefined {
  const [uploads, deletions] = [`${prefix}/upload`, `${prefix}/delete/`]
  const nameIn = (url: string, start: string) => {
    const name = url.startsWith(start) ? url.slice(start.length) : ''
    return isPlainName(name) ? name : undefined
  }
  return ({ method, url = '', headers }) => {
    if (method === 'POST') return url === uploads ? form : undefined
    if (method === 'PUT') {
      const name = nameIn(url, `${uploads}/`)
      return name === undefined ? undefined : put(name)
    }
    const hasBody =
      headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    const name = method === 'DELETE' && !hasBody ? nameIn(url, deletions) : undefined
    return name === undefined ? undefined : remove(name)
  }
}

const form: Change = {
  route: 'upload',
  event: 'upload',
  make(exchange, files) {
    const { request, state } = exchange
    const options = releaseChunks(request)
    const simple = takeSimpleForm(request)
    if (simple === undefined) return undefined
    const store = async () => {
      const upload = prepareFile(files, simple, options, (name) => void (state.fileName = name))
      step('form-complete')
      return upload.publish()
    }
    return (exchange.storing = store())
  },
}

function put(name: string): Change {
  return {
    route: 'put',
    event: 'upload',
    make(exchange, files) {
      const { request, state } = exchange
      const options = releaseChunks(request)
      const whole = takeBodyAtHand(request)
      if (whole === undefined) return undefined
      request.resume()
      state.fileName = name
      return (exchange.storing = prepareUpload(files, name, whole, options).publish())
    },
  }
}

function remove(name: string): Change {
  return {
    route: 'delete',
    event: 'delete',
    make(exchange, files) {
      exchange.state.fileName = name
      exchange.deleting = files.delete(name)
      return exchange.deleting.then(() => undefined)
    },
  }
}

/** In the order in which the application has them. */
function send(response: ServerResponse, requestId: string, stored: BlobInfo | undefined): void {
  response.writeHead(200, [
    'x-request-id',
    requestId,
    'Content-Type',
    'text/plain; charset=utf-8',
    ...(stored ? ['ETag', etagOf(stored)] : []),
    'Content-Length',
    '2',
  ])
  response.end('OK')
}
