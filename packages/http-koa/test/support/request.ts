import { auth } from './running-app.ts'

export const boundary = 'boundary-of-a-test'
export const formType = `multipart/form-data; boundary=${boundary}`

type Headers = Readonly<Record<string, string | number>>

/** A request in bytes, a character of Latin-1 each, with a length when there is a body. */
export function request(method: string, target: string, headers: Headers = {}, body = ''): Buffer {
  const length = body === '' ? {} : { 'Content-Length': body.length }
  const all = { Host: 'service.test', ...length, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, 'latin1')
}

/** {@link request}, by the customer. */
export function customerRequest(
  method: string,
  target: string,
  headers: Headers = {},
  body = '',
): Buffer {
  return request(method, target, { ...auth, ...headers }, body)
}

/** POST /upload of these bytes as the form. */
export function formRequest(body: string, headers: Headers = {}): Buffer {
  return customerRequest('POST', '/upload', { 'Content-Type': formType, ...headers }, body)
}

/** A part with these lines for headers. */
export function part(headerLines: string, content = 'content'): string {
  return `--${boundary}\r\n${headerLines}\r\n\r\n${content}\r\n`
}

export function filePart(filename: string, content = 'content'): string {
  return part(`Content-Disposition: form-data; name="file"; filename="${filename}"`, content)
}

export function textPart(name: string, value: string): string {
  return part(`Content-Disposition: form-data; name="${name}"`, value)
}

/** A whole form of these parts. */
export function form(...parts: readonly string[]): string {
  return `${parts.join('')}--${boundary}--\r\n`
}
