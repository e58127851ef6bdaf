import type { BenchRequest } from '../subjects/subject.ts'

/** A request as it goes over the wire, with `{n}` where it has them; each counts as the six digits it stands for. */
export function requestBytes(request: BenchRequest, port: number, bodyBytes?: number): Buffer {
  const { method, path, headers = {}, body } = request
  const length = bodyBytes ?? (body && numbered(body.toString('latin1')).length)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)])
}

// Latin-1 has one character for each byte.
const numbered = (latin1: string) => latin1.replaceAll('{n}', '000000')
