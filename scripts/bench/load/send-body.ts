import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { BenchRequest } from '../subjects/subject.ts'
import { closing } from './download.ts'
import { openSocket } from './open-socket.ts'
import { requestBytes } from './request-bytes.ts'

/** What stands around the content of a file in a body. */
export interface Frame {
  readonly head: Buffer
  readonly tail: Buffer
}

const chunk = Buffer.alloc(1024 ** 2, 'holdfast')
const nothing: Frame = { head: Buffer.alloc(0), tail: Buffer.alloc(0) }

/**
 * Sends a request with `size` bytes, the same mebibyte over and over, as fast as the server takes it, on a connection of its
 * own. Resolves with the answer when that has ended; rejects when it is not 2xx.
 */
export async function sendBody(
  port: number,
  request: BenchRequest,
  size: number,
  { head, tail } = nothing,
): Promise<string> {
  const socket = openSocket(port, request)
  const answered = answerOf(socket)
  const write = async (bytes: Buffer) => {
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), answered])
  }
  await write(requestBytes(closing(request), port, head.length + size + tail.length))
  await write(head)
  for (let left = size; left > 0; left -= chunk.length) {
    await write(left < chunk.length ? chunk.subarray(0, left) : chunk)
  }
  await write(tail)
  const answer = await answered
  if (!/^HTTP\/1\.1 2/.test(answer)) throw new Error(`Answered ${answer}`)
  return answer
}

async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')))
  await once(socket, 'end')
  return text
}
