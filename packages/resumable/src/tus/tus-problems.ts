import { ProtocolProblem } from '../protocol/protocol-problem.ts'

/** The only version of the protocol that there is. */
export const tusVersion = '1.0.0'

/** Wordings of docs/api.md, each in one place. */
export const tusProblems = {
  unknownVersion: () =>
    new ProtocolProblem('unknown-tus-version', 412, `Tus-Resumable must be ${tusVersion}`, {
      'Tus-Version': tusVersion,
    }),
  unknownContentType: () =>
    new ProtocolProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/offset+octet-stream',
    ),
  checksumMismatch: () => new ProtocolProblem('checksum-mismatch', 460, 'Checksum mismatch'),
  noFileName: () =>
    new ProtocolProblem('no-file-name', 400, 'No filename. Use Upload-Metadata: filename <base64>'),
  invalidField: (field: string, reason: string) =>
    new ProtocolProblem('invalid-field', 400, `Invalid ${field}: ${reason}`),
  invalidHeader: (header: string, reason: string) =>
    new ProtocolProblem('invalid-header', 400, `Invalid ${header}: ${reason}`),
  methodNotAllowed: (allow: string) =>
    new ProtocolProblem('method-not-allowed', 405, `Method not allowed. Use ${allow}`, {
      Allow: allow,
    }),
} as const
