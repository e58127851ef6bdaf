import { expect } from 'chai'
import { isSafeLink } from '../../page/list/file-kind.ts'
import { readTable } from '../../page/preview/read-table.ts'

describe('readTable', () => {
  const cases: readonly (readonly [text: string, rows: readonly (readonly string[])[]])[] = [
    ['', []],
    ['a', [['a']]],
    ['"Smith" ,"John"', [['Smith ', 'John']]],
    ['"a"b,c', [['ab', 'c']]],
    [
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a;b\n"1;x";2,5',
      [
        ['a', 'b'],
        ['1;x', '2,5'],
      ],
    ],
    [
      'a\tb\n1,2\t3',
      [
        ['a', 'b'],
        ['1,2', '3'],
      ],
    ],
    [
      'a,b\n"say ""yes""\nto it",2',
      [
        ['a', 'b'],
        ['say "yes"\nto it', '2'],
      ],
    ],
    [
      'a,b,\n,,',
      [
        ['a', 'b', ''],
        ['', '', ''],
      ],
    ],
    ['\ufeffa,b', [['a', 'b']]],
    ['"never closed,b', [['never closed,b']]],
    ['"a"x,b', [['ax', 'b']]],
  ]
  for (const [text, rows] of cases) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(readTable(text).rows).to.deep.equal(rows)
    })
  }

  it('ends at its bounds, and says so', () => {
    const long = readTable('x\n'.repeat(1001))
    expect([long.rows.length, long.isCut]).to.deep.equal([1000, true])
    const wide = readTable(','.repeat(150))
    expect([wide.rows[0]?.length, wide.isCut]).to.deep.equal([100, true])
    expect(readTable('x\n'.repeat(1000)).isCut).to.equal(false)
  })
})

describe('isSafeLink', () => {
  it('lets a text lead to other sites, and nowhere else', () => {
    for (const href of ['https://a.example/b', 'http://a', 'mailto:a@b.c']) {
      expect(isSafeLink(href), href).to.equal(true)
    }
    for (const href of [
      ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:x'],
      ...[
        'data:text/html,x',
        'blob:http://a/b',
        'vbscript:x',
        'file:///etc',
        '/delete/a',
        '#x',
        '',
      ],
    ]) {
      expect(isSafeLink(href), href).to.equal(false)
    }
  })
})
