import { type UploadContent, requireText } from '@holdfast/core'

/** The headers of a request by their names in lower case, as Node has them; those sent twice are joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What every protocol needs of a request, whatever server has received it. */
export interface ProtocolRequest {
  readonly headers: RequestHeaders
  /** The body. Called at most once, when it is about to be read. It throws, and does not end, if it is not complete. */
  content(): UploadContent
  /** Called with each chunk of the body that the store no longer needs. Default: no call. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
}

/** The value of a header, without the spaces around it; `undefined` where it is missing. */
export function headerOf({ headers }: Pick<ProtocolRequest, 'headers'>, name: string) {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.join(', '))?.trim()
}

type Head = Pick<ProtocolRequest, 'headers'>

/** Whether the body of the request is said to be of the media type `expected`, whatever its parameters. */
export function isOfType(request: Head, expected: string): boolean {
  return headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase() === expected
}

/** Whether the request has a body, which may be empty if its length is not announced. */
export function hasBody(request: Head): boolean {
  return headerOf(request, 'transfer-encoding') !== undefined || (announcedSize(request) ?? 0) > 0
}

/** The bytes that `Content-Length` announces. */
export function announcedSize(request: Head): number | undefined {
  const length = headerOf(request, 'content-length')
  return length === undefined ? undefined : Number(length)
}

/**
 * Refuses what no path of a request begins with: `what` is an option such as `prefix`.
 *
 * @throws TypeError for another type, RangeError for text that has no slash at its beginning, or one at its end
 */
export function requirePath(what: string, value: unknown): void {
  requireText(what, value)
  const text = String(value)
  if (text === '' || /^\/.*[^/]$/s.test(text)) return
  throw new RangeError(
    `${what} must begin with a slash and not end with one, such as "/files", not ${JSON.stringify(text)}`,
  )
}
