import type { ResumableUpload } from '@holdfast/core'
import { HttpProblem } from './http-problem.ts'
import { headerOf, isOfType, type ProtocolRequest } from './request.ts'

/** A request of the tus protocol, whatever server has received it. */
export interface TusRequest extends ProtocolRequest {
  readonly method: string
  /** As the client sent it, without the query. */
  readonly path: string
  /** What follows the path for creation; `undefined` at that path itself. */
  readonly id: string | undefined
  /** What the URL of a new upload has after its path, such as `?link=…`: what lets its client in. Default: nothing. */
  readonly query?: string
  /**
   * Aborts when the client leaves before it has the answer. Where the request has a body, `content` throws then, and what came
   * counts. Default: never.
   */
  readonly signal?: AbortSignal
  /** Called with the name of the file to be, once it is known; it may not be allowed. Default: no call. */
  readonly onName?: (name: string) => void
}

/** What to answer. The body is empty. */
export interface TusAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload that the request was about; with `published` set if this request, or one before it, published the file. */
  readonly upload?: ResumableUpload
  /** Whether this request published the file. */
  readonly hasPublished: boolean
}

/** @throws HttpProblem 415 when the body of the request is not said to be a part of an upload */
export function requireContentType(request: TusRequest): void {
  if (!isOfType(request, 'application/offset+octet-stream')) throw tusProblems.unknownContentType()
}

/**
 * The number of bytes in a header; `undefined` without one.
 *
 * @throws HttpProblem 400 when it is no whole number, or larger than JavaScript counts
 */
export function wholeNumber(request: TusRequest, header: string): number | undefined {
  const text = headerOf(request, header)
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) {
    throw tusProblems.invalidHeader(header, 'it must be a whole number')
  }
  return number
}

/** How far an upload is; when it expires, or the entity tag of the file that it has become. */
export function progressHeaders({
  offset,
  expiresAt,
  published,
}: ResumableUpload): Record<string, string> {
  return {
    'Upload-Offset': String(offset),
    ...(published === undefined
      ? { 'Upload-Expires': expiresAt.toUTCString() }
      : { 'Upload-ETag': `"${published.etag}"` }),
  }
}

/** What was said of an upload when it began, or later. */
export function planHeaders({ plan }: ResumableUpload): Record<string, string> {
  return {
    ...(plan.length === undefined
      ? { 'Upload-Defer-Length': '1' }
      : { 'Upload-Length': String(plan.length) }),
    ...(plan.note !== undefined && { 'Upload-Metadata': plan.note }),
  }
}

/** The only version of the protocol that there is. */
export const tusVersion = '1.0.0'

/** Wordings of docs/api.md, each in one place. */
export const tusProblems = {
  unknownVersion: () =>
    new HttpProblem('unknown-tus-version', 412, `Tus-Resumable must be ${tusVersion}`, {
      'Tus-Version': tusVersion,
    }),
  unknownContentType: () =>
    new HttpProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/offset+octet-stream',
    ),
  checksumMismatch: () => new HttpProblem('checksum-mismatch', 460, 'Checksum mismatch'),
  noFileName: () =>
    new HttpProblem('no-file-name', 400, 'No filename. Use Upload-Metadata: filename <base64>'),
  invalidField: (field: string, reason: string) =>
    new HttpProblem('invalid-field', 400, `Invalid ${field}: ${reason}`),
  invalidHeader: (header: string, reason: string) =>
    new HttpProblem('invalid-header', 400, `Invalid ${header}: ${reason}`),
  methodNotAllowed: (allow: string) =>
    new HttpProblem('method-not-allowed', 405, `Method not allowed. Use ${allow}`, {
      Allow: allow,
    }),
} as const
