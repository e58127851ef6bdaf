import { hash } from 'node:crypto'

/**
 * What is kept of the key of a failed login, at most 65 characters: a name that does not exist may be as long as the headers of
 * a request. The key as it is or a digest, which no key that is kept as it is can be equal to.
 */
export function failureKey(key: string): string {
  return key.length <= 64 ? `=${key}` : hash('sha256', key, 'base64url')
}
