import { isFileServiceError, type ExpectedDigest, type ResumableUpload } from '@holdfast/core'
import { HttpProblem } from './http-problem.ts'
import { announcedSize, headerOf, type ProtocolRequest } from './request.ts'

/** A request of the draft "Resumable Uploads for HTTP", whatever server has received it. */
export interface DraftRequest extends ProtocolRequest {
  /** The digest of this request's content, where the client has sent one (`Content-Digest`). */
  readonly digest?: ExpectedDigest | undefined
  /** Sends the interim response 104 with these headers, where the server can. */
  inform(headers: Readonly<Record<string, string>>): void
}

/** What to answer. */
export interface DraftAnswer {
  /** 200 where the file has been published: the answer is then that of the resource which the upload was for. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload that the request was about; with `published` set where the file has been published. */
  readonly upload?: ResumableUpload
}

/**
 * The text that is spoken here: draft-ietf-httpbis-resumable-upload, interop version 8 (editors' copy of 1 July 2026). Names
 * of sections below are those of that text.
 */
export const interopVersion = '8'

/**
 * An Item of Structured Fields (RFC 9651 §3.1.2) may have parameters, which mean nothing here. A header that was sent twice is
 * no Item: it has a comma outside of a quoted string.
 */
const quoted = String.raw`"(?:[^"\\]|\\["\\])*"`
const parameters = String.raw`(?:; *[a-z*][a-z0-9_.*-]*(?:=(?:${quoted}|[^\s",;]+))?)*$`
const booleanItem = new RegExp(`^\\?([01])${parameters}`)
const integerItem = new RegExp(`^(\\d{1,15})${parameters}`)

/** Whether the client speaks the version that is spoken here. */
export function speaksVersion(request: Pick<DraftRequest, 'headers'>): boolean {
  return headerOf(request, 'upload-draft-interop-version') === interopVersion
}

/** "Completeness": whether the request's content is the rest of the file; `undefined` without a valid header. */
export function uploadComplete(request: Pick<DraftRequest, 'headers'>): boolean | undefined {
  return booleanIn(request, 'upload-complete')
}

/**
 * The header by which a request says that its content is a part of the file, or by which it may say so where it cannot be read;
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
 * "Length": the bytes of the whole file, as far as a request says at `offset`.
 *
 * @throws HttpProblem 400 when it says so in two ways that differ, or the upload is `known` to have another length
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
 * "Completeness" of the answer to a request that failed with `error`: whether the upload is over. A wrong digest of the
 * whole file, and more bytes than the file's length, end it.
 */
export function completenessAfter(
  error: unknown,
  { digest }: Pick<DraftRequest, 'digest'>,
): string {
  const isDigestOfFile = isFileServiceError(error, 'digest-mismatch') && digest === undefined
  return isDigestOfFile || isFileServiceError(error, 'file-too-large') ? '?1' : '?0'
}

/** Every refusal of a request that is not the end of its upload says so ("Completeness"). */
const incomplete = { 'Upload-Complete': '?0' }

/** Wordings of docs/api.md, each in one place. */
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
