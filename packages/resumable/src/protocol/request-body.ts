import { headerOf, type ProtocolRequest } from './request.ts'

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
