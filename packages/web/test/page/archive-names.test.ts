import { expect } from 'chai'
import { archiveNames } from '../../page/list/archive-names.ts'

describe('archiveNames', () => {
  const cases: readonly (readonly [name: string, entry: string])[] = [
    ['..\\..\\evil.txt', '.._.._evil.txt'],
    ['../../evil.txt', '.._.._evil.txt'],
    ['\\\\host\\share', '__host_share'],
    ['C:\\Windows\\x.exe', 'C__Windows_x.exe'],
    ['c:x', 'c_x'],
    ['a\u0000.txt', 'a_.txt'],
    ['..', '_..'],
    ['', '_'],
    ['...', '...'],
    ['12:30 notes.txt', '12:30 notes.txt'],
    ['Überblick – 日本.txt', 'Überblick – 日本.txt'],
  ]
  for (const [name, entry] of cases) {
    it(`makes ${JSON.stringify(entry)} of ${JSON.stringify(name)}`, () => {
      expect(archiveNames([name])).to.deep.equal([entry])
    })
  }

  it('keeps all of them apart', () => {
    const names = ['a\\b.txt', 'a/b.txt', 'a_b (2).txt', 'a\u0001b.txt', 'a_b.txt', 'c\\d']
    expect(archiveNames(names)).to.deep.equal([
      'a_b (3).txt',
      'a_b (4).txt',
      'a_b (2).txt',
      'a_b (5).txt',
      'a_b.txt',
      'c_d',
    ])
  })

  it('has folders below the one that is packed, and none leads out of it', () => {
    const names = ['a - b - c.txt', 'a - d.txt', 'a - .. - e.txt', 'a - C: - x\\y', 'a - b']
    expect(archiveNames(names, '')).to.deep.equal([
      'a/b/c.txt',
      'a/d.txt',
      'a/_../e.txt',
      'a/C_/x_y',
      'a/b (2)',
    ])
    expect(archiveNames(names.slice(0, 2), 'a - ')).to.deep.equal(['b/c.txt', 'd.txt'])
    expect(archiveNames(['a - b.txt', 'a - b.txt '], '')).to.deep.equal(['a/b.txt', 'a/b.txt '])
  })
})
