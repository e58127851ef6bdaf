import { expect } from 'chai'
import { selectPaths, createMatcher, isPattern } from '../../src/remote/selection.ts'

describe('selectPaths', () => {
  const cases: readonly (readonly [pattern: string, path: string, isMatch: boolean])[] = [
    ['*.log', 'a.log', true],
    ['*.log', 'x/y/a.log', true],
    ['*.log', '.log', true],
    ['*.log', 'a.logs', false],
    ['cache', 'cache', true],
    ['cache', 'x/cache/y', true],
    ['cache/', 'cache', false],
    ['cache/', 'x/cache/y/z', true],
    ['/cache', 'cache/y', true],
    ['/cache', 'x/cache', false],
    ['./cache', 'cache/y', true],
    ['x/*.txt', 'x/a.txt', true],
    ['x/*.txt', 'x/y/a.txt', false],
    ['x/**/a', 'x/a', true],
    ['x/**/a', 'x/y/z/a', true],
    ['**/a', 'a', true],
    ['x/**', 'x/y', true],
    ['x/**', 'y/x', false],
    ['[ab].txt', 'c/b.txt', true],
  ]
  for (const [pattern, path, isMatch] of cases) {
    it(`${isMatch ? 'leaves out' : 'keeps'} ${path} with --exclude ${pattern}`, () => {
      expect(selectPaths({ exclude: [pattern] }).isSelected(path)).to.equal(!isMatch)
      expect(selectPaths({ include: [pattern] }).isSelected(path)).to.equal(isMatch)
    })
  }

  it('lets --exclude win over --include, and takes only listed paths', () => {
    const selection = selectPaths({
      include: ['*.txt'],
      exclude: ['b*'],
      paths: new Set(['a.txt', 'b.txt', 'c']),
    })
    expect(['a.txt', 'b.txt', 'c', 'd.txt'].filter(selection.isSelected)).to.deep.equal(['a.txt'])
  })

  it('says which directories need not be read', () => {
    const { isExcluded } = selectPaths({ exclude: ['cache/'], include: ['x'] })
    expect(isExcluded('a/cache', 'directory')).to.equal(true)
    expect(isExcluded('a', 'directory')).to.equal(false)
  })

  it('takes no long time for a pattern of many stars', () => {
    const pattern = `${'**/*a*/'.repeat(20)}b`
    const path = `${'aaaa/'.repeat(60)}c`
    expect(selectPaths({ exclude: [pattern] }).isSelected(path)).to.equal(true)
  })
})

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
