import { expect } from 'chai'
import { renderResults } from '../render-results.ts'
import { resultsOf, suiteOf } from './result-fixtures.ts'

describe('renderResults', () => {
  it('puts suites side by side, with the reason where one leaves a group out', () => {
    const suites = [suiteOf('memory', { full: 'it has no bound' }), suiteOf('disk')]
    const results = [
      ...resultsOf('memory', { 'ranges > reads everything': true, 'ranges > reads one': false }),
      ...resultsOf('disk', {
        'ranges > reads everything': true,
        'ranges > reads one': true,
        'full > refuses': true,
      }),
    ]
    expect(renderResults(suites, results).split('\n')).to.deep.equal([
      '## ranges',
      '',
      '```text',
      'memory  disk    test',
      'ok      ok      reads everything',
      'FAILED  ok      reads one',
      '```',
      '',
      '## full',
      '',
      '```text',
      'memory  disk    test',
      '-       ok      refuses',
      '```',
      '',
      '- memory: not run; it has no bound',
      '',
    ])
  })

  it('lists the exceptions that a suite is granted, below the group', () => {
    const suites = [suiteOf('memory', {}, { streaming: 'more memory' }), suiteOf('disk')]
    const results = resultsOf('memory', { 'ranges > a': true, 'streaming > b': true })
    const text = renderResults(suites, results)
    expect(text).to.match(/b\n```\n\n- memory: more memory\n$/)
    expect(text.match(/more memory/g)).to.have.length(1)
  })

  it('puts a group that the first suite leaves out where the other suite has it', () => {
    const results = [
      ...resultsOf('memory', { 'ranges > a': true, 'uploads > a': true }),
      ...resultsOf('disk', { 'ranges > a': true, 'full > a': true, 'uploads > a': true }),
    ]
    const text = renderResults([suiteOf('memory'), suiteOf('disk')], results)
    expect(text.match(/^## .*/gm)).to.deep.equal(['## ranges', '## full', '## uploads'])
  })

  it('has one line for a test, however often the results come', () => {
    const results = resultsOf('memory', { 'ranges > a': true })
    const once = renderResults([suiteOf('memory')], results)
    expect(renderResults([suiteOf('memory')], [...results, ...results])).to.equal(once)
  })
})
