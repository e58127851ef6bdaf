import { problems } from '../http/problem.ts'

/**
 * The digest in a form's text field `sha256`, in lower case; `undefined` without one.
 *
 * @throws HttpProblem 400 when the field is sent twice or is no SHA-256 digest in hexadecimal
 */
export function expectedSha256(fields: unknown): string | undefined {
  if (typeof fields !== 'object' || fields === null || !('sha256' in fields)) return undefined
  const { sha256 } = fields
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw problems.invalidField('sha256', 'it must be 64 hexadecimal digits, once')
  }
  return sha256.toLowerCase()
}
