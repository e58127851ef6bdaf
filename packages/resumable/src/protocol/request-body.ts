import { problems } from './protocol-problem.ts'
import { headerOf, type TusRequest } from './request.ts'

const contentType = 'application/offset+octet-stream'

/** @throws TusProblem 415 when the body of the request is not said to be a part of an upload */
export function requireContentType(request: TusRequest): void {
  const type = headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== contentType) throw problems.unknownContentType()
}

/** Whether the request has a body, which may be empty if its length is not announced. */
export function hasBody(request: TusRequest): boolean {
  return headerOf(request, 'transfer-encoding') !== undefined || (announcedSize(request) ?? 0) > 0
}

/** The bytes that `Content-Length` announces. */
export function announcedSize(request: TusRequest): number | undefined {
  const length = headerOf(request, 'content-length')
  return length === undefined ? undefined : Number(length)
}
