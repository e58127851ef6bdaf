import { STATUS_CODES } from 'node:http'
import { expect } from 'chai'
import type { WireAnswer } from './answers.ts'

/** All the headers that answers ever have. Any other was brought in by an input. */
const knownHeaders = new Set([
  ...['accept-ranges', 'allow', 'cache-control', 'connection', 'content-disposition'],
  ...['content-length', 'content-range', 'content-security-policy', 'content-type', 'date', 'etag'],
  ...['keep-alive', 'last-modified', 'retry-after', 'transfer-encoding', 'x-content-type-options'],
  ...['cross-origin-resource-policy', 'link', 'x-request-id', 'location'],
  ...['tus-resumable', 'tus-version', 'tus-extension', 'tus-checksum-algorithm', 'upload-offset'],
  ...['upload-length', 'upload-defer-length', 'upload-metadata', 'upload-expires'],
  'upload-etag',
  ...['upload-complete', 'upload-limit'],
])

/** Whatever was asked: no fault, no header that is not the service's own, and errors in their one form. */
export function expectSound({ status, headers, body }: WireAnswer, isHead = false): void {
  expect(status, body.toString('latin1')).to.not.equal(500)
  for (const name of headers.keys()) {
    if (!knownHeaders.has(name)) throw new Error(`An answer with the header ${name}`)
  }
  expect(headers.get('x-request-id') ?? 'none').to.match(/^[\w.:-]{1,128}$/)
  if (status < 400) return
  expect(headers.get('content-type')).to.equal('application/json; charset=utf-8')
  if (isHead && body.length === 0) return
  const { message, ...rest } = JSON.parse(body.toString()) as { readonly message: unknown }
  expect(rest).to.deep.equal({
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Checksum Mismatch',
  })
  expect(message).to.be.a('string').that.is.not.empty
}

/** The message of an error, or the text of a success. */
export function messageOf({ status, body }: WireAnswer): string {
  if (status < 400) return body.toString()
  return (JSON.parse(body.toString()) as { readonly message: string }).message
}
