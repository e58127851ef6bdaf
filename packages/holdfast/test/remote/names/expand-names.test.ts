import { expect } from 'chai'
import { createMatcher, isPattern } from '../../../src/remote/names/expand-names.ts'

describe('createMatcher', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['*', ['a', '.a', 'a b', 'ü', '🙂', '~', '__proto__', '..a', '*'], []],
    ['*.txt', ['a.txt', '.txt'], ['a.txt.gz', 'atxt']],
    ['a?c', ['abc', 'a.c'], ['ac', 'abbc']],
    ['[ab]*', ['a', 'bc'], ['c', '[ab]']],
    ['[!a]', ['b'], ['a']],
    ['{a,b}*', ['{a,b}', '{a,b}c'], ['a', 'b']],
    ['!*', ['!', '!a'], ['a']],
    ['+(a)*', ['+(a)b'], ['aa']],
    ['a|b*', ['a|b'], ['a', 'b']],
    ['(a)*+', ['(a)+'], ['a', 'a+']],
    ['a.*', ['a.b'], ['ab']],
    ['$^*', ['$^'], ['a']],
    ['a**b', ['ab', 'axb'], ['a']],
    ['[a', ['[a'], ['a']],
    ['[+]*', ['+1'], ['1']],
    ['a\\**', ['a*', 'a*b'], ['ab']],
  ]
  for (const [pattern, matching, others] of cases) {
    it(`takes ${pattern} as a shell does`, () => {
      const isMatch = createMatcher(pattern)
      expect(matching.filter((name) => !isMatch(name))).to.deep.equal([])
      expect(others.filter(isMatch)).to.deep.equal([])
    })
  }

  it('takes a word without special characters for a name', () => {
    expect(['a', '{a}', '!a', 'a\\b', '.'].filter(isPattern)).to.deep.equal([])
    expect(['*', 'a?', '[a]'].every(isPattern)).to.equal(true)
  })
})
