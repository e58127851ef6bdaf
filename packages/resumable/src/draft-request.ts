import { isFileServiceError, type ExpectedDigest, type ResumableUpload } from '@holdfast/core'
import { HttpProblem } from './http-problem.ts'
import { announcedSize, headerOf, type ProtocolRequest } from './request.ts'

/** A request of the draft "Resumable Uploads for HTTP", independent of the server that received it. */
export interface DraftRequest extends ProtocolRequest {
  /** The digest of this request's content, if the client sent one (`Content-Digest`). */
  readonly digest?: ExpectedDigest | undefined
  /** Sends the interim response 104 with these headers, if the server can. */
  inform(headers: Readonly<Record<string, string>>): void
}

/** The answer to a request of the draft. */
export interface DraftAnswer {
  /** 200 if the file was published: then the server answers as for a plain upload of the file. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload of the request; `published` is set if the file was published. */
  readonly upload?: ResumableUpload
}

/**
 * The supported text: draft-ietf-httpbis-resumable-upload, interop version 8 (editors' copy of 1 July 2026). The comments name its
 * sections.
 */
export const interopVersion = '8'

/**
 * An Item of Structured Fields (RFC 9651 §3.1.2) may have parameters, which are ignored here. A header that was sent twice is not an
 * Item: it has a comma outside of a quoted string.
 */
const quoted = String.raw`"(?:[^"\\]|\\["\\])*"`
const parameters = String.raw`(?:; *[a-z*][a-z0-9_.*-]*(?:=(?:${quoted}|[^\s",;]+))?)*$`
const booleanItem = new RegExp(`^\\?([01])${parameters}`)
const integerItem = new RegExp(`^(\\d{1,15})${parameters}`)

/** Whether the client uses the supported version of the draft. */
export function speaksVersion(request: Pick<DraftRequest, 'headers'>): boolean {
  return headerOf(request, 'upload-draft-interop-version') === interopVersion
}

/** "Completeness": whether the request's content is the rest of the file; `undefined` without a valid header. */
export function uploadComplete(request: Pick<DraftRequest, 'headers'>): boolean | undefined {
  return booleanIn(request, 'upload-complete')
}

/**
 * The header by which a request says that its content is only a part of the file, or a header that may say so but cannot be read;
 * `undefined` if there is none. Drafts before the fourth had `Upload-Incomplete`.
 */
export function headerOfPart(request: Pick<DraftRequest, 'headers'>): string | undefined {
  const whole = { 'upload-complete': true, 'upload-incomplete': false }
  return Object.entries(whole).find(
    ([header, value]) =>
      headerOf(request, header) !== undefined && booleanIn(request, header) !== value,
  )?.[0]
}

function booleanIn(request: Pick<DraftRequest, 'headers'>, header: string): boolean | undefined {
  const digit = booleanItem.exec(headerOf(request, header) ?? '')?.[1]
  return digit === undefined ? undefined : digit === '1'
}

/** "Offset" and "Length": a number of bytes; `undefined` without a valid header, as the draft demands. */
export function bytesIn(
  request: DraftRequest,
  header: 'upload-offset' | 'upload-length',
): number | undefined {
  const digits = integerItem.exec(headerOf(request, header) ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * "Length": the length of the whole file by a request at `offset`; `undefined` if neither the request nor `known` says it.
 *
 * @throws HttpProblem 400 when the lengths in the request, and the `known` length of the upload, differ
 */
export function lengthOf(
  request: DraftRequest,
  offset: number,
  known?: number,
): number | undefined {
  const size = uploadComplete(request) === true ? announcedSize(request) : undefined
  const rest = size === undefined ? undefined : offset + size
  const lengths = new Set([known, bytesIn(request, 'upload-length'), rest])
  lengths.delete(undefined)
  if (lengths.size > 1) throw draftProblems.inconsistentLength()
  return [...lengths][0]
}

/** "Limits": how large a file may be, and how long an upload is kept, in seconds. */
export function uploadLimit(maxFileSize: number | undefined, upload?: ResumableUpload): string {
  const limits = [
    ...(maxFileSize === undefined ? [] : [`max-size=${maxFileSize}`]),
    ...(upload === undefined ? [] : [`max-age=${secondsUntil(upload.expiresAt)}`]),
  ]
  return limits.length === 0 ? 'min-size=0' : limits.join(', ')
}

function secondsUntil(time: Date): number {
  return Math.max(0, Math.floor((time.getTime() - Date.now()) / 1000))
}

/**
 * "Completeness" of the answer to a request that failed with `error`: `?1` if the upload has ended. A wrong digest of the whole
 * file, and more bytes than the file's length, end it.
 */
export function completenessAfter(
  error: unknown,
  { digest }: Pick<DraftRequest, 'digest'>,
): string {
  const isDigestOfFile = isFileServiceError(error, 'digest-mismatch') && digest === undefined
  return isDigestOfFile || isFileServiceError(error, 'file-too-large') ? '?1' : '?0'
}

/** The header of every refusal that does not end the upload ("Completeness"). */
const incomplete = { 'Upload-Complete': '?0' }

/** The errors with the words of docs/api.md. */
export const draftProblems = {
  invalidHeader: (header: string, reason: string) =>
    new HttpProblem('invalid-header', 400, `Invalid ${header}: ${reason}`, incomplete),
  unknownContentType: () =>
    new HttpProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/partial-upload',
      incomplete,
    ),
  inconsistentLength: () =>
    draftProblems.invalidHeader('upload-length', 'the lengths of the upload differ'),
  /** "Upload Append" demands the right offset in the answer. */
  otherOffset: (offset: number) =>
    new HttpProblem('upload-conflict', 409, 'Upload conflict', {
      ...incomplete,
      'Upload-Offset': String(offset),
    }),
} as const
