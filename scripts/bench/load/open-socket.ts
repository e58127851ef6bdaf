import { connect, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { BenchRequest } from '../subjects/subject.ts'

/** A connection of its own for a request to a server on 127.0.0.1; `onread` as that of `net.connect`. */
export function openSocket(
  port: number,
  { isSecure }: Pick<BenchRequest, 'isSecure'>,
  onread?: OnReadOpts,
): Socket {
  const options = { port, host: '127.0.0.1', ...(onread && { onread }) }
  return isSecure ? connectSecurely({ ...options, rejectUnauthorized: false }) : connect(options)
}
