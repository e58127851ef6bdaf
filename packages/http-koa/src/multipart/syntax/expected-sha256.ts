import { problems } from '../../errors/problem.ts'

/**
 * The digest in the text fields `sha256` of a form, in lower case; `undefined` without any.
 *
 * @throws HttpProblem 400 when there are several, or one that is no SHA-256 digest in hexadecimal
 */
export function expectedSha256([sha256, ...more]: readonly string[]): string | undefined {
  if (sha256 === undefined) return undefined
  if (more.length > 0 || !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw problems.invalidField('sha256', 'it must be 64 hexadecimal digits, once')
  }
  return sha256.toLowerCase()
}
