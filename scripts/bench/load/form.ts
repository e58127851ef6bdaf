import { randomBytes } from 'node:crypto'
import type { BenchRequest } from '../subjects/subject.ts'

const boundary = `holdfast-${randomBytes(12).toString('hex')}`

/** What stands before and after the content of a file in a form, as curl writes it. */
export function formAround(names: string): { head: Buffer; tail: Buffer } {
  return { head: Buffer.from(partHead(names)), tail: Buffer.from(`\r\n--${boundary}--\r\n`) }
}

/** A form with one file for each name. */
export function formOf(names: readonly string[], content: Buffer): Buffer {
  const parts = names.flatMap((name) => [Buffer.from(partHead(name)), content, Buffer.from('\r\n')])
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
}

/** The request with the header of a form. */
export function withForm(request: BenchRequest, body?: Buffer): BenchRequest {
  const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return { ...request, headers: { ...request.headers, ...type }, ...(body && { body }) }
}

const partHead = (name: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
  'Content-Type: application/octet-stream\r\n\r\n'
