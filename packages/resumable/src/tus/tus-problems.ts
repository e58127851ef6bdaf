import { HttpProblem } from '../protocol/http-problem.ts'

/** The only version of the protocol that there is. */
export const tusVersion = '1.0.0'

/** Wordings of docs/api.md, each in one place. */
export const tusProblems = {
  unknownVersion: () =>
    new HttpProblem('unknown-tus-version', 412, `Tus-Resumable must be ${tusVersion}`, {
      'Tus-Version': tusVersion,
    }),
  unknownContentType: () =>
    new HttpProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/offset+octet-stream',
    ),
  checksumMismatch: () => new HttpProblem('checksum-mismatch', 460, 'Checksum mismatch'),
  noFileName: () =>
    new HttpProblem('no-file-name', 400, 'No filename. Use Upload-Metadata: filename <base64>'),
  invalidField: (field: string, reason: string) =>
    new HttpProblem('invalid-field', 400, `Invalid ${field}: ${reason}`),
  invalidHeader: (header: string, reason: string) =>
    new HttpProblem('invalid-header', 400, `Invalid ${header}: ${reason}`),
  methodNotAllowed: (allow: string) =>
    new HttpProblem('method-not-allowed', 405, `Method not allowed. Use ${allow}`, {
      Allow: allow,
    }),
} as const
