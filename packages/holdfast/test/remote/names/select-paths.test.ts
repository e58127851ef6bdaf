import { expect } from 'chai'
import { selectPaths } from '../../../src/remote/names/select-paths.ts'

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
