import { readFile } from 'node:fs/promises'
import { HoldfastError } from '@holdfast/client'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { exitCodeOf, usageError, explain, reasonOf } from '../../src/remote/errors.ts'

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

describe('reasonOf', () => {
  it('says what the system says, and of which file, unless that is named already', async () => {
    const error: unknown = await readFile('/none/x').catch((reason: unknown) => reason)
    expect(reasonOf(error, '/none/x')).to.equal('No such file or directory')
    expect(reasonOf(error, 'x')).to.equal('No such file or directory: /none/x')
  })

  it('says what an error of the API means to the user', () => {
    const taken = new HoldfastError('already-exists', 'Precondition Failed')
    expect(reasonOf(taken)).to.equal('There is a file of this name on the server')
    const unexpected = new HoldfastError('unexpected', 'Unexpected', { requestId: 'r1' })
    expect(reasonOf(unexpected)).to.equal('Unexpected (request r1)')
    expect(reasonOf(new HoldfastError('not-found', 'File not found'))).to.equal('File not found')
  })

  it('keeps any other message', () => {
    expect(reasonOf(new SetupError('a', ['B.']))).to.equal('a. B.')
    expect(reasonOf(new Error('broken'))).to.equal('broken')
    expect(reasonOf('thrown')).to.equal('thrown')
  })
})

describe('explain', () => {
  it('keeps in one line what a server says, without what a terminal would obey', () => {
    const { message } = explain(new HoldfastError('unknown', 'a\u001b[2J\nb'), 'Failed')
    expect(message).to.equal('Failed: a\\u{1b}[2J\\u{a}b')
  })
})
