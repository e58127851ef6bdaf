import { createHash } from 'node:crypto'
import type { ExpectedDigest } from '@holdfast/core'
import { problems } from '../errors/problem.ts'

const algorithms = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * The digest that a Content-Digest header (RFC 9530 §2) announces: SHA-256, or SHA-512 where that is all there is.
 * `undefined` without one of these; other algorithms are passed over, as §5 allows.
 *
 * @throws HttpProblem 400 when the value for one of these algorithms is no digest of that length
 */
export function parseContentDigest(header: string | undefined): ExpectedDigest | undefined {
  const members = new Map(
    (header ?? '').split(',').map((member) => {
      const [key = '', ...value] = member.trim().split('=')
      return [key.trim().toLowerCase(), value.join('=')]
    }),
  )
  for (const [name, algorithm] of Object.entries(algorithms)) {
    const value = members.get(name)
    if (value !== undefined) return expect(name, algorithm, value)
  }
  return undefined
}

function expect(name: string, algorithm: string, value: string): ExpectedDigest {
  const hash = createHash(algorithm)
  const base64 = /^:([A-Za-z0-9+/]*={0,2}):$/.exec(value)?.[1] ?? ''
  const digest = Buffer.from(base64, 'base64')
  if (digest.length !== hash.copy().digest().length) {
    throw problems.invalidHeader(
      'Content-Digest',
      `${name} must be a digest in base64 between colons`,
    )
  }
  return { hash, expected: () => digest.toString('hex') }
}
