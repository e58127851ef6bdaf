import type { IncomingMessage } from 'node:http'

/**
 * A body that is not what the client has sent, since something in the application has read or changed it. Neither the
 * client's fault nor the store's; the message is for the log, and says what to change.
 */
export class BodyFault extends Error {
  override readonly name = 'BodyFault'
}

/**
 * To be called right before the body is read: an upload of what is left of a body would be acknowledged, and be empty or
 * a part of the file.
 *
 * @throws BodyFault when something has read of the body, or has it decoded
 */
export function requireIntactBody(request: IncomingMessage): void {
  if (request.readableDidRead && !isWhole(request)) {
    throw new BodyFault(
      "Something has read the request's body before holdfast: mount holdfast's router before body parsers, " +
        'such as koa-bodyparser and express.json, or keep them off its paths',
    )
  }
  requireUndecodedBody(request)
}

/** Whether the whole body lies in the stream, as where it was looked at and put back. */
function isWhole({ headers, readableLength }: IncomingMessage): boolean {
  return readableLength > 0 && readableLength === Number(headers['content-length'])
}

/**
 * The part of {@link requireIntactBody} that holds while the body is being read, too.
 *
 * @throws BodyFault when something has the body decoded
 */
export function requireUndecodedBody(request: IncomingMessage): void {
  if (request.readableEncoding) {
    throw new BodyFault(
      'Something has called setEncoding on the request before holdfast, so that its body comes as text: ' +
        "remove the call, or keep it off the paths of holdfast's router",
    )
  }
}

/**
 * To be called when all of the body has been read: Node sees to it that as many bytes come from the client as it has
 * announced.
 *
 * @throws BodyFault when there were more or less
 */
export function requireAnnouncedLength(request: IncomingMessage, size: number): void {
  const fault = lengthFault(request, size)
  if (fault) throw fault
}

function lengthFault({ headers }: IncomingMessage, size: number): BodyFault | undefined {
  const announced = headers['content-length']
  if (announced === undefined || Number(announced) === size) return undefined
  return new BodyFault(
    `The request's body had ${size} bytes instead of the ${announced} that Content-Length announced: something ` +
      "reads or replaces it beside holdfast. Mount holdfast's router before that, or keep it off its paths",
  )
}

/**
 * {@link requireAnnouncedLength} for a body that is about to be piped elsewhere: calls `fail` with the fault before the
 * other end learns that the body has ended.
 */
export function watchBodyLength(request: IncomingMessage, fail: (fault: BodyFault) => void): void {
  let size = 0
  request.on('data', (chunk: Buffer) => (size += chunk.length))
  request.once('end', () => {
    const fault = lengthFault(request, size)
    if (fault) fail(fault)
  })
}
