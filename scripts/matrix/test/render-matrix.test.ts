import { expect } from 'chai'
import { renderMatrix } from '../render-matrix.ts'
import { resultsOf, suiteOf } from './result-fixtures.ts'

const stores = [
  { name: 'memory', suites: [suiteOf('memory')] },
  { name: 'disk', suites: [suiteOf('plain'), suiteOf('escaped')] },
]

describe('renderMatrix', () => {
  it('counts what each store passes, and names the groups that it leaves out', () => {
    const results = [
      ...resultsOf('memory', { 'ranges > a': true, 'ranges > b': false }),
      ...resultsOf('plain', { 'ranges > a': true, 'ranges > b': true, 'full > a': true }),
      ...resultsOf('escaped', { 'ranges > a': true, 'ranges > b': true }),
    ]
    expect(renderMatrix(stores, results)).to.equal(
      [
        '| store  | tests passed | groups not run |',
        '| ------ | ------------ | -------------- |',
        '| memory | 1/2          | full           |',
        '| disk   | 3/3          | -              |',
        '',
      ].join('\n'),
    )
  })

  it('counts a test as passed only when it passes with every layout of the store', () => {
    const results = [
      ...resultsOf('memory', { 'ranges > a': true }),
      ...resultsOf('plain', { 'ranges > a': true }),
      ...resultsOf('escaped', { 'ranges > a': false }),
    ]
    expect(renderMatrix(stores, results)).to.contain('| disk   | 0/1          | -              |')
  })
})
