import { type UploadContent, requireText } from '@holdfast/core'

/** The headers of a request by their names in lower case, as in Node; values of a header that was sent twice are joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The fields of a request that every protocol needs, independent of the server that received it. */
export interface ProtocolRequest {
  readonly headers: RequestHeaders
  /** The body. Called at most once, right before it is read. If the body is incomplete, reading it throws and does not end. */
  content(): UploadContent
  /** Called with each chunk of the body that the store no longer needs. Default: none. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
}

/** The value of a header, without the spaces around it; `undefined` if it is missing. */
export function headerOf({ headers }: Pick<ProtocolRequest, 'headers'>, name: string) {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.join(', '))?.trim()
}

type Head = Pick<ProtocolRequest, 'headers'>

/** Whether `Content-Type` has the media type `expected`, with any parameters. */
export function isOfType(request: Head, expected: string): boolean {
  return headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase() === expected
}

/** Whether the request has a body, which may be empty if its length is not announced. */
export function hasBody(request: Head): boolean {
  return headerOf(request, 'transfer-encoding') !== undefined || (announcedSize(request) ?? 0) > 0
}

/** How many bytes `Content-Length` announces; `undefined` if it is missing. */
export function announcedSize(request: Head): number | undefined {
  const length = headerOf(request, 'content-length')
  return length === undefined ? undefined : Number(length)
}

/**
 * Refuses a value that cannot be the first part of a path; `what` is the option's name, such as `prefix`. The empty text is allowed.
 *
 * @throws TypeError for another type; RangeError for a text that does not begin with a slash, or ends with one
 */
export function requirePath(what: string, value: unknown): void {
  requireText(what, value)
  const text = String(value)
  if (text === '' || /^\/.*[^/]$/s.test(text)) return
  throw new RangeError(
    `${what} must begin with a slash and not end with one, such as "/files", not ${JSON.stringify(text)}`,
  )
}
