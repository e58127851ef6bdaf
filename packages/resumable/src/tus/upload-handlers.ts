import type { FinishedUpload, ResumableFiles, ResumableUpload } from '@holdfast/core'
import { appendBody } from './append-body.ts'
import { headerOf } from '../protocol/request.ts'
import { hasBody } from '../protocol/request-body.ts'
import { requireContentType } from './require-content-type.ts'
import { tusProblems } from './tus-problems.ts'
import type { TusAnswer, TusRequest } from './tus-request.ts'
import { planHeaders, progressHeaders } from './upload-headers.ts'
import { wholeNumber } from './whole-number.ts'

type UploadHandler = (files: ResumableFiles, id: string, request: TusRequest) => Promise<TusAnswer>

/** The methods that an upload has, once it has begun. */
export const uploadHandlers: ReadonlyMap<string, UploadHandler> = new Map([
  ['HEAD', describeUpload],
  ['PATCH', continueUpload],
  ['DELETE', endUpload],
])

/**
 * How far an upload is. A client takes an upload that has all of its bytes for safe, so one whose file could not be
 * published with the last bytes is published now, or the answer is the error. Whoever has left waits for nothing.
 */
async function describeUpload(
  files: ResumableFiles,
  id: string,
  request: TusRequest,
): Promise<TusAnswer> {
  const { signal } = request
  const found = await files.state(id)
  const isComplete = found.published === undefined && found.offset === found.plan.length
  const upload: FinishedUpload = isComplete
    ? await files.publish(id, signal ? { signal } : {})
    : found
  return {
    status: 200,
    headers: {
      'Cache-Control': 'no-store',
      ...progressHeaders(upload),
      ...planHeaders(upload),
      ...(await digestHeaders(files, upload, request)),
    },
    upload,
    hasPublished: upload.isPublishedNow === true,
  }
}

/**
 * The digest of what has arrived of an unfinished upload, for a client that asks for it (RFC 9530 §4): one that goes on after a while
 * has to know whether its content is still the same.
 */
async function digestHeaders(
  files: ResumableFiles,
  { id, offset, published }: ResumableUpload,
  request: TusRequest,
): Promise<Readonly<Record<string, string>>> {
  const isWanted = /(?:^|[,\s])sha-256\s*(?:=\s*[1-9]|[,;]|$)/iu.test(
    headerOf(request, 'want-repr-digest') ?? '',
  )
  if (!isWanted || published) return {}
  const { signal } = request
  const digest = await files.digest(id, offset, signal ? { signal } : {})
  if (digest === undefined) return {}
  const bytes = digest.replaceAll(/../g, (hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { 'Repr-Digest': `sha-256=:${btoa(bytes)}:` }
}

async function continueUpload(
  files: ResumableFiles,
  id: string,
  request: TusRequest,
): Promise<TusAnswer> {
  requireContentType(request)
  const offset = wholeNumber(request, 'upload-offset')
  if (offset === undefined) throw tusProblems.invalidHeader('upload-offset', 'it is missing')
  const length = wholeNumber(request, 'upload-length')
  const isEmpty = !hasBody(request)
  const found = isEmpty || length !== undefined ? await files.state(id) : undefined
  if (found && length !== undefined) requireSameLength(found, length)
  if (isEmpty && found?.published && found.offset === offset) {
    // The answer to the request that published it may have been lost.
    return { status: 204, headers: progressHeaders(found), upload: found, hasPublished: false }
  }
  const upload = await appendBody(files, request, { id, offset, length })
  return {
    status: 204,
    headers: progressHeaders(upload),
    upload,
    hasPublished: upload.isPublishedNow === true,
  }
}

/** A length that is known never changes. */
function requireSameLength(upload: ResumableUpload, length: number): void {
  const known = upload.published?.size ?? upload.plan.length
  if (known === undefined || known === length) return
  throw tusProblems.invalidHeader('upload-length', 'the upload has another one')
}

/** A file that has been published stays. */
async function endUpload(files: ResumableFiles, id: string): Promise<TusAnswer> {
  await files.discard(id)
  return { status: 204, headers: {}, hasPublished: false }
}
