import { HoldfastError } from '@holdfast/client'
import { expect } from 'chai'
import { exitCodeOf } from '../../../src/remote/errors/explain.ts'
import { usageError } from '../../../src/remote/errors/command-error.ts'

describe('exitCodeOf', () => {
  const api = (code: HoldfastError['code'], status = 400) => new HoldfastError(code, '', { status })
  const cases: readonly (readonly [string, Error, number])[] = [
    ['a mistake', usageError('x'), 2],
    ['a wrong password', api('invalid-credentials'), 3],
    ['a missing file', api('not-found'), 4],
    ['a missing local file', Object.assign(new Error(), { code: 'ENOENT' }), 4],
    ['no answer', api('no-answer', 0), 5],
    ['a busy server', api('overloaded', 503), 5],
    ['too many logins', api('too-many-attempts', 429), 5],
    ["a proxy's gateway error", api('unknown', 502), 5],
    ['a file that has changed', api('precondition-failed', 412), 5],
    ['a taken name', api('already-exists', 412), 1],
    ['a full quota', api('quota-exceeded', 413), 1],
    ['another error', new Error('x'), 1],
  ]
  for (const [what, error, code] of cases) {
    it(`is ${code} for ${what}`, () => expect(exitCodeOf(error)).to.equal(code))
  }
})
