import { isOfType } from '../protocol/request-body.ts'
import { tusProblems } from './tus-problems.ts'
import type { TusRequest } from './tus-request.ts'

/** @throws HttpProblem 415 when the body of the request is not said to be a part of an upload */
export function requireContentType(request: TusRequest): void {
  if (!isOfType(request, 'application/offset+octet-stream')) throw tusProblems.unknownContentType()
}
