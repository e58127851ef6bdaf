import { expect } from 'chai'
import { summaryOf } from '../summary-of.ts'

const again = "scripts/test packages/a/test/a.test.ts --fgrep 'things breaks'"
const file = 'packages/a/test/a.test.ts'

describe('summaryOf', () => {
  it('says of each failure where it is, what it is, why, and how to see it again', () => {
    const failures = [
      { title: 'lint', message: 'ended with code 1', again: 'node_modules/.bin/oxlint .' },
      { file, title: 'things > breaks', message: 'expected 1\nto equal 2', again },
    ]
    const total = { passed: 7, failures, figures: ['figures: kills: 7'], contract: [] }
    expect(summaryOf(total)).to.equal(`
figures: kills: 7
failed: lint
  ended with code 1
  again: node_modules/.bin/oxlint .

failed: packages/a/test/a.test.ts
  things > breaks
  expected 1
  to equal 2
  again: ${again}

7 passed, 2 failed`)
  })

  it('shows the beginning of a message that is a document', () => {
    const message = Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join('\n')
    const failures = [{ file, title: 'x', message, again }]
    const text = summaryOf({ passed: 0, failures, figures: [], contract: [] })
    expect(text).to.include('  line 10\n  (490 more lines)\n').and.not.include('line 11')
  })

  it('says what was left out', () => {
    const total = { passed: 1, failures: [], figures: [], contract: [] }
    expect(summaryOf(total, { leftOut: ['A', 'B'] })).to.include(
      '(--without-containers): A, B\n1 passed',
    )
    expect(summaryOf(total, { leftOut: [] })).to.include('(--without-containers): nothing\n')
  })

  it('names what takes long and was left out', () => {
    const total = { passed: 1, failures: [], figures: [], contract: [] }
    expect(summaryOf(total, { long: ['a.test.ts', 'b.test.ts'] })).to.match(
      /^left out, .*--all\): a\.test\.ts, b\.test\.ts\n1 passed, 0 failed$/m,
    )
  })

  it('names what has passed at the second try, right before the numbers', () => {
    const total = { passed: 1, failures: [], figures: [], contract: [] }
    const flaky = [{ file: 'a.test.ts', title: 'page > opens', error: 'Error: it died' }]
    expect(summaryOf(total, { leftOut: [], flaky })).to.match(
      /\nflaky: a\.test\.ts: page > opens, Error: it died\n1 passed, 0 failed$/,
    )
  })
})
