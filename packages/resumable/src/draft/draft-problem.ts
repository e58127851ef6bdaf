import { HttpProblem } from '../protocol/http-problem.ts'

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
