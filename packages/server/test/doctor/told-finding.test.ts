import { expect } from 'chai'
import { toldFinding } from '../../src/doctor/told-finding.ts'

describe('toldFinding', () => {
  for (const [text, message, ...remedies] of [
    ['It is wrong.', 'It is wrong'],
    ['f.yaml: it is wrong; mend it', 'f.yaml: it is wrong', 'mend it'],
    ['It is 1.5 s late. Wait; or go.', 'It is 1.5 s late', 'Wait', 'or go.'],
    ['It needs:\n  one\n  two', 'It needs', 'one', 'two'],
  ] as const) {
    it(`parts ${JSON.stringify(text)} into what is wrong and what to do`, () => {
      expect(toldFinding('problem', 'thing', text)).to.deep.equal({
        check: 'thing',
        mark: 'problem',
        message,
        remedies,
      })
    })
  }
})
