import {
  requireCount,
  requireFunction,
  requireOptions,
  type FinishedUpload,
  type ResumableFiles,
  type ResumableUpload,
} from '@holdfast/core'
import { hasBody, headerOf } from './request.ts'
import {
  appendBody,
  checksumAlgorithms,
  planHeaders,
  progressHeaders,
  requireContentType,
  tusProblems,
  tusVersion,
  wholeNumber,
  type TusAnswer,
  type TusRequest,
} from './tus-request.ts'
import { createUpload, type CreationOptions } from './tus-creation.ts'

export interface TusOptions extends CreationOptions {
  /** The largest file in bytes, for `Tus-Max-Size`; the service enforces it. Default: the header is missing. */
  readonly maxFileSize?: number | undefined
}

/** The tus protocol, version 1.0.0, for the uploads of customers. */
export interface Tus {
  /**
   * The method of a request: that of `X-HTTP-Method-Override`, if it has this header.
   * @throws HttpProblem 405 when the path does not have the method
   */
  methodOf(request: Pick<TusRequest, 'method' | 'headers' | 'id'>): string
  /** Answers OPTIONS, which any client may send. */
  describe(request: Pick<TusRequest, 'id'>): TusAnswer
  /**
   * Answers any other request, for the customer's `files`.
   *
   * @throws HttpProblem for a mistake in the request itself
   * @throws FileServiceError, and the errors of the request's content
   */
  answer(files: ResumableFiles, request: TusRequest): Promise<TusAnswer>
}

/** The header of every answer, also of errors. */
export const tusHeaders = { 'Tus-Resumable': tusVersion } as const

const extensions = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'checksum',
  'termination',
]

/** Makes a {@link Tus}. */
export function createTus(options: TusOptions = {}): Tus {
  requireOptions('createTus({ maxFileSize })', options, {
    'maxFileSize?': requireCount,
    'fileName?': requireFunction,
    'location?': requireFunction,
  })
  const { maxFileSize } = options
  const about = {
    ...tusHeaders,
    'Tus-Version': tusVersion,
    'Tus-Extension': extensions.join(','),
    'Tus-Checksum-Algorithm': checksumAlgorithms.join(','),
    ...(maxFileSize !== undefined && { 'Tus-Max-Size': String(maxFileSize) }),
  }
  return {
    methodOf,
    describe: ({ id }) => ({
      status: 204,
      headers: { ...about, Allow: methodsAt(id).join(', ') },
      hasPublished: false,
    }),
    async answer(files, request) {
      const method = methodOf(request)
      if (headerOf(request, 'tus-resumable') !== tusVersion) throw tusProblems.unknownVersion()
      const { headers, ...answer } = await handle(method, files, request, options)
      return { ...answer, headers: { ...tusHeaders, ...headers } }
    },
  }
}

const methodOf: Tus['methodOf'] = (request) => {
  const method = headerOf(request, 'x-http-method-override')?.toUpperCase() ?? request.method
  const known = methodsAt(request.id)
  if (!known.includes(method)) throw tusProblems.methodNotAllowed(known.join(', '))
  return method
}

function methodsAt(id: string | undefined): readonly string[] {
  return [...(id === undefined ? ['POST'] : uploadHandlers.keys()), 'OPTIONS']
}

function handle(
  method: string,
  files: ResumableFiles,
  request: TusRequest,
  options: CreationOptions,
): Promise<TusAnswer> {
  const handler = uploadHandlers.get(method)
  return request.id === undefined || handler === undefined
    ? createUpload(files, request, options)
    : handler(files, request.id, request)
}

type UploadHandler = (files: ResumableFiles, id: string, request: TusRequest) => Promise<TusAnswer>

/** The methods of an upload that was created. */
const uploadHandlers: ReadonlyMap<string, UploadHandler> = new Map([
  ['HEAD', describeUpload],
  ['PATCH', continueUpload],
  ['DELETE', endUpload],
])

/**
 * HEAD: the state of an upload. For a client, an upload with all of its bytes is stored. So if its file could not be published with
 * the last bytes, this publishes it, or answers the error. If the client has left, it publishes nothing.
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
 * The digest of an unfinished upload's bytes so far, for a client that asks for it (RFC 9530 §4): a client that resumes the upload
 * later can check whether its content is still the same.
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
  throw tusProblems.invalidHeader('upload-length', 'the upload has another length')
}

/** DELETE: discards an upload. A published file stays. */
async function endUpload(files: ResumableFiles, id: string): Promise<TusAnswer> {
  await files.discard(id)
  return { status: 204, headers: {}, hasPublished: false }
}
