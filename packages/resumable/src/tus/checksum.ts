import { createHash } from 'node:crypto'
import type { ExpectedDigest } from '@holdfast/core'
import { tusProblems } from './tus-problems.ts'
import { headerOf } from '../protocol/request.ts'
import type { TusRequest } from './tus-request.ts'

/** In the order of preference. The protocol demands SHA-1. */
export const checksumAlgorithms = ['sha256', 'sha1']

/** The checksum that a client announces for the body of one request. */
export interface Checksum {
  readonly digest: ExpectedDigest
  /** Whether the body was compared with it, and differed. */
  isMismatch(): boolean
}

/**
 * Reads `Upload-Checksum`: the name of an algorithm, and the checksum in Base64; `undefined` without one.
 *
 * @throws HttpProblem 400 when it is not of that form, of another algorithm, or announced as a trailer
 */
export function parseChecksum(request: TusRequest): Checksum | undefined {
  // The extension checksum-trailer: its client relies on a comparison that would not be made.
  if (/\bupload-checksum\b/i.test(headerOf(request, 'trailer') ?? '')) {
    throw invalid('it must come before the body')
  }
  const header = headerOf(request, 'upload-checksum')
  if (header === undefined) return undefined
  const [algorithm = '', value = '', ...more] = header.split(' ')
  if (!checksumAlgorithms.includes(algorithm)) {
    throw invalid(`the algorithm must be one of ${checksumAlgorithms.join(', ')}`)
  }
  if (more.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) {
    throw invalid('the checksum must be in Base64')
  }
  return expect(algorithm, Buffer.from(value, 'base64').toString('hex'))
}

function expect(algorithm: string, expected: string): Checksum {
  const hash = createHash(algorithm)
  let isMismatch = false
  return {
    digest: {
      hash: {
        update: (bytes) => hash.update(bytes),
        digest(encoding) {
          const actual = hash.digest(encoding)
          isMismatch = actual !== expected
          return actual
        },
      },
      expected: () => expected,
    },
    isMismatch: () => isMismatch,
  }
}

function invalid(reason: string) {
  return tusProblems.invalidHeader('upload-checksum', reason)
}
