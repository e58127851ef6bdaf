import { expect } from 'chai'
import { hasResultsOf, resultProblems } from '../result-problems.ts'
import { resultsOf, suiteOf } from './result-fixtures.ts'

const suites = [suiteOf('memory', { full: 'it has no bound' }), suiteOf('disk')]
const memory = resultsOf('memory', {
  'ranges > reads everything': true,
  'ranges > reads one': true,
})
const disk = resultsOf('disk', {
  'ranges > reads everything': true,
  'ranges > reads one': true,
  'full > refuses': true,
})

describe('resultProblems', () => {
  it('finds none where every suite has every test, or a reason', () => {
    expect(resultProblems(suites, [...memory, ...disk])).to.deep.equal([])
  })

  it('leaves a failed test to those who ran it', () => {
    const failed = resultsOf('memory', { 'ranges > reads everything': false })
    expect(resultProblems(suites, [...memory.slice(1), ...failed, ...disk])).to.deep.equal([])
  })

  it('finds a suite that did not run', () => {
    const sentence = 'there is no result of the suite "disk": it did not run'
    expect(resultProblems(suites, memory)).to.include(sentence)
    expect(resultProblems(suites, [])).to.include(sentence)
  })

  it('finds a suite that has no column', () => {
    const other = resultsOf('tape', { 'ranges > reads one': true })
    expect(resultProblems(suites, [...memory, ...disk, ...other])).to.deep.equal([
      'the suite "tape" has no line in scripts/matrix/stores.ts',
    ])
  })

  it('finds a test that only one suite has', () => {
    expect(resultProblems(suites, [...memory, ...disk.slice(1)])).to.deep.equal([
      '"disk" has no result of "ranges > reads everything"',
    ])
  })

  it('finds a group that is missing without a reason', () => {
    expect(
      resultProblems([suiteOf('memory'), suiteOf('disk')], [...memory, ...disk]),
    ).to.deep.equal(['"memory" has no result of "full > refuses"'])
  })

  it('finds a group that every suite leaves out', () => {
    const reasons = { full: 'it has no bound', unreachable: 'it is here' }
    expect(
      resultProblems([suiteOf('memory', reasons), suites[1]!], [...memory, ...disk]),
    ).to.deep.equal(['no store ran the group "unreachable"'])
  })

  it('finds a reason that no longer holds', () => {
    const full = resultsOf('memory', { 'full > refuses': true })
    expect(resultProblems(suites, [...memory, ...full, ...disk])).to.deep.equal([
      'scripts/matrix/stores.ts says "memory" leaves out full, but it does not',
    ])
  })
})

describe('hasResultsOf', () => {
  it('is true only if all suites of all stores have their results', () => {
    const stores = suites.map((suite) => ({ name: suite.name, suites: [suite] }))
    expect(hasResultsOf(stores, [...memory, ...disk])).to.equal(true)
    expect(hasResultsOf(stores, disk)).to.equal(false)
    expect(hasResultsOf(stores, [...memory, ...disk.slice(1)])).to.equal(false)
  })
})
