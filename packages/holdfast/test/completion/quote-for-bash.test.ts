import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { quoteForBash } from '../../src/completion/answer-shell.ts'

describe('quoteForBash', () => {
  it('gives what bash reads as the same word', () => {
    const words = [
      'plain.txt',
      'a b',
      "it's",
      '"quoted"',
      '$(touch x) `touch x` $HOME',
      '~',
      '#x',
      '!x',
      'a\\b',
      'a;b|c&d>e<f(g)',
      '*?[a]{b,c}',
      '^a',
      'größe 字.txt',
      '👩‍👩‍👧',
      '=a',
      '%1',
    ]
    const line = `printf '%s\\n' ${words.map(quoteForBash).join(' ')}`
    const read = execFileSync('bash', ['-c', line], { encoding: 'utf8' })
    expect(read.split('\n').slice(0, -1)).to.deep.equal(words)
  })
})
