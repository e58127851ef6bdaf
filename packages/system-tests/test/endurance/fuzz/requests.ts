import { password } from './fuzz-service.ts'

/** One line of a request's head. */
export type HeaderLine = readonly [name: string, value: string]

/** What proves to be `demo`. */
export const credentials: readonly HeaderLine[] = [
  ['x-auth-name', 'demo'],
  ['x-auth-password', password],
]

/** A request in bytes; its text is Latin-1, a character each, and it says no length but the one in `headers`. */
export function requestOf(
  method: string,
  target: string,
  headers: readonly HeaderLine[],
  body: Uint8Array = Buffer.alloc(0),
): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'),
    body,
  ])
}

/** A request by `demo`, with the length of its body. */
export function demoRequest(
  method: string,
  target: string,
  headers: readonly HeaderLine[] = [],
  body: Uint8Array = Buffer.alloc(0),
): Buffer {
  const length: readonly HeaderLine[] =
    body.length > 0 || method === 'PUT' ? [['Content-Length', `${body.length}`]] : []
  return requestOf(method, target, [['Host', 'a'], ...credentials, ...length, ...headers], body)
}

/** `body` cut into chunks (RFC 9112 §7.1) at `cuts`, so that the server reads it in these pieces, whatever TCP does. */
export function chunked(body: Uint8Array, cuts: readonly number[]): Buffer {
  const places = [...new Set([...cuts, body.length])].filter((at) => at > 0 && at <= body.length)
  places.sort((a, b) => a - b)
  const chunks = places.map((end, index) => {
    const chunk = body.subarray(places[index - 1] ?? 0, end)
    return Buffer.concat([
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ])
  })
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}
