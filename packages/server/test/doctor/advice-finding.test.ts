import { advice } from '@holdfast/core'
import { expect } from 'chai'
import { adviceFinding } from '../../src/doctor/examine.ts'

describe('adviceFinding', () => {
  for (const [said, message, ...remedies] of [
    [advice('It is wrong.'), 'It is wrong'],
    [advice('f.yaml: it is wrong', 'change it'), 'f.yaml: it is wrong', 'change it'],
    [advice('It needs:', 'one', 'two'), 'It needs', 'one', 'two'],
    [advice('a; b. C is missing', 'Make it. Now.'), 'a; b. C is missing', 'Make it. Now.'],
  ] as const) {
    it(`says ${JSON.stringify(message)}`, () => {
      expect(adviceFinding('problem', 'thing', said)).to.deep.equal({
        check: 'thing',
        mark: 'problem',
        message,
        remedies,
      })
    })
  }
})
