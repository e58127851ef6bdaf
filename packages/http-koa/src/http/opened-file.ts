import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenBlob } from '@holdfast/core'
import { onAnswerEnd } from './on-answer-end.ts'

const openingKey = Symbol('opening')

interface RequestWithFile extends IncomingMessage {
  [openingKey]?: Promise<OpenBlob> | undefined
}

/** Leaves the file that `request` asks for to the route, which may not come to it: then it is closed. */
export function leaveOpened(
  request: RequestWithFile,
  response: ServerResponse,
  opening: Promise<OpenBlob>,
): void {
  request[openingKey] = opening
  const close = async () => (await takeOpened(request))?.close()
  onAnswerEnd(request, response, () => void close().catch(() => {}))
}

/** The file that was opened for `request` already, to be read or closed from now on; or why it was not. */
export function takeOpened(request: RequestWithFile): Promise<OpenBlob> | undefined {
  const opening = request[openingKey]
  request[openingKey] = undefined
  return opening
}
