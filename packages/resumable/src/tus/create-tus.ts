import { requireCount, requireFunction, requireOptions } from '@holdfast/core'
import type { ResumableFiles } from '@holdfast/core'
import { checksumAlgorithms } from './checksum.ts'
import { createUpload, type CreationOptions } from './create-upload.ts'
import { tusProblems, tusVersion } from './tus-problems.ts'
import { headerOf } from '../protocol/request.ts'
import type { TusAnswer, TusRequest } from './tus-request.ts'
import { uploadHandlers } from './upload-handlers.ts'

export interface TusOptions extends CreationOptions {
  /** The largest file in bytes, for `Tus-Max-Size`; the service enforces it. Default: the header is missing. */
  readonly maxFileSize?: number | undefined
}

/** The tus protocol, version 1.0.0, over the resumable uploads of customers. */
export interface Tus {
  /**
   * The method that a request means: that of `X-HTTP-Method-Override`, if it has one.
   * @throws HttpProblem 405 when the path does not know it
   */
  methodOf(request: Pick<TusRequest, 'method' | 'headers' | 'id'>): string
  /** Answers OPTIONS, which any client may send. */
  describe(request: Pick<TusRequest, 'id'>): TusAnswer
  /**
   * Answers any other request, of a customer.
   *
   * @throws HttpProblem for what is wrong with the request itself
   * @throws FileServiceError, and what the request's content throws
   */
  answer(files: ResumableFiles, request: TusRequest): Promise<TusAnswer>
}

/** The header that every answer has, errors too. */
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
