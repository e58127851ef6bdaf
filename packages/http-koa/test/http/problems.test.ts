import { FileServiceError, type ErrorCode } from '@holdfast/core'
import { expect } from 'chai'
import { problems, toProblem } from '../../src/http/problems.ts'

const told = {
  'missing-credentials': [400, 'No auth headers'],
  'invalid-credentials': [400, 'Invalid credentials'],
  'too-many-attempts': [429, 'Too many failed logins'],
  'link-refused': [403, 'The link is wrong, or has expired'],
  'invalid-file-name': [400, 'own words'],
  'not-found': [400, 'File not found'],
  'version-not-found': [404, 'Version not found'],
  'already-exists': [412, 'Precondition Failed'],
  'file-too-large': [413, 'File too large'],
  'quota-exceeded': [413, 'own words'],
  'digest-mismatch': [400, 'Digest mismatch'],
  'not-allowed': [403, 'own words'],
  'upload-not-found': [404, 'Upload not found'],
  'upload-conflict': [409, 'Upload conflict'],
  'insufficient-storage': [507, 'Insufficient storage'],
  'store-unavailable': [503, 'Storage unavailable'],
  overloaded: [503, 'Overloaded'],
} satisfies Record<ErrorCode, readonly [status: number, message: string]>

const codes = Object.entries(told) as [ErrorCode, readonly [number, string]][]

describe('toProblem', () => {
  for (const [code, [status, message]] of codes) {
    it(`says ${code} as ${status} ${message}`, () => {
      const problem = toProblem(new FileServiceError(code, 'own words'))
      expect([problem.status, problem.message]).to.deep.equal([status, message])
      expect(problem.code).to.equal(code)
      expect(problem.expose).to.equal(status < 500)
      const comesBack = status === 429 || status === 503
      expect(problem.headers).to.deep.equal(comesBack ? { 'Retry-After': '5' } : {})
    })
  }

  it('says when to come back in whole seconds, one at least', () => {
    const after = (retryAfterMs: number) =>
      toProblem(new FileServiceError('overloaded', '', { retryAfterMs })).headers['Retry-After']
    expect([0, 1, 1000, 1001, 59_999].map(after)).to.deep.equal(['1', '1', '1', '2', '60'])
  })

  it('leaves the problems of HTTP alone', () => {
    const problem = problems.noFile()
    expect(toProblem(problem)).to.equal(problem)
  })

  for (const [code, status] of [
    ['LIMIT_UNEXPECTED_FILE', 400],
    ['MISSING_FIELD_NAME', 400],
    ['INVALID_FIELD_NAME', 400],
    ['LIMIT_FIELD_NESTING', 400],
    ['LIMIT_FIELD_ARRAY_INDEX', 400],
    ['LIMIT_FILE_SIZE', 413],
    ['LIMIT_FILE_COUNT', 413],
    ['LIMIT_PART_COUNT', 413],
    ['LIMIT_FIELD_KEY', 413],
    ['LIMIT_FIELD_VALUE', 413],
    ['LIMIT_FIELD_COUNT', 413],
  ] as const) {
    it(`says ${code} of multer as ${status}, in its words`, () => {
      const refused = Object.assign(new Error('own words'), { name: 'MulterError', code })
      expect(toProblem(refused)).to.include({ status, message: 'own words', expose: true })
    })
  }

  it('says nothing about faults', () => {
    for (const fault of [new Error('secret'), new TypeError('secret'), 'secret', undefined, null]) {
      const { status, message, headers } = toProblem(fault)
      expect([status, message, headers]).to.deep.equal([500, 'An unexpected error occurred', {}])
    }
  })
})
