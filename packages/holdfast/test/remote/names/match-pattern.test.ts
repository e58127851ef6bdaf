import { expect } from 'chai'
import { createMatcher, isPattern } from '../../../src/remote/names/match-pattern.ts'

describe('createMatcher', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['*', ['a', 'a.b', 'a b', 'ü', '🙂', '~', '__proto__', '*'], ['.a', '..a']],
    ['.*', ['.a', '..a'], ['a']],
    ['\\.*', ['.a'], ['a']],
    ['?bashrc', ['abashrc'], ['.bashrc']],
    ['[.]*', [], ['.a', 'a']],
    ['[!a]*', ['b'], ['.a']],
    ['*.bashrc', ['a.bashrc'], ['.bashrc']],
    ['*.txt', ['a.txt'], ['a.txt.gz', 'atxt', '.txt']],
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
    ['\\d*', ['d5'], ['5']],
    ['[\\w]', ['w'], ['x', '\\']],
    ['"*"', ['"a"'], ['a']],
    ['?', ['🙂', 'é'], ['🙂🙂']],
    ['[🙂-🙄]', ['🙃'], ['🙅', 'a']],
    ['[!🙂]', ['🙃'], ['🙂']],
    ['[]a]*', [']', 'ab'], ['b']],
    ['[c-a]*', [], ['a', 'b', '-']],
    ['[[:digit:]-]*', ['1', '-'], ['a', ':']],
    ['[\\-x]', ['-', 'x'], ['a', '\\']],
    ['[', ['['], ['']],
    ['[[:digit:]*', [], ['1', 'd', '[', ':']],
    ['[]*', ['[]a'], ['a']],
    ['*.*.c', ['a.b.c', 'a.c.b.c'], ['a.c', 'a.b.c.d']],
  ]
  for (const [pattern, matching, others] of cases) {
    it(`takes ${pattern} as a shell does`, () => {
      const isMatch = createMatcher(pattern)
      expect(matching.filter((name) => !isMatch(name))).to.deep.equal([])
      expect(others.filter(isMatch)).to.deep.equal([])
    })
  }

  it('takes no longer for many stars', function () {
    this.timeout(20_000)
    expect(createMatcher(`${'*a'.repeat(20)}b`)('a'.repeat(255))).to.equal(false)
  })

  it('takes a word without special characters for a name', () => {
    expect(['a', '{a}', '!a', 'a\\b', '.'].filter(isPattern)).to.deep.equal([])
    expect(['*', 'a?', '[a]'].every(isPattern)).to.equal(true)
  })
})
