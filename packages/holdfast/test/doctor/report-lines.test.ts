import { finding, type FindingMark } from '@holdfast/core'
import { expect } from 'chai'
import { reportLines, summaryLine } from '../../src/doctor.ts'

const plain = (_: FindingMark, text: string) => text

describe('reportLines', () => {
  it('aligns mark, check, message and remedies', () => {
    const found = finding('warning', 'free space', 'nearly none', 'Make room', 'or move')
    expect(reportLines(found, plain)).to.deep.equal([
      '  warning  free space         nearly none',
      '                              -> Make room',
      '                              -> or move',
    ])
  })

  it('paints the mark only', () => {
    const paint = (mark: FindingMark, text: string) => `<${mark}>${text}</>`
    expect(reportLines(finding('ok', 'clock', 'is right'), paint)).to.deep.equal([
      '  <ok>ok      </> clock              is right',
    ])
  })

  it('shows what would move a cursor, or turn text round', () => {
    const found = finding('ok', 'names', 'a\u001b[2Jb\nc\u202ed', 'x\r')
    expect(reportLines(found, plain).join('|')).to.include('a\\u{1b}[2Jb\\u{a}c\\u{202e}d|')
  })
})

describe('summaryLine', () => {
  it('counts, and says whether the server can run', () => {
    expect(summaryLine({ ok: 9, warning: 0, problem: 0, skipped: 0 })).to.equal(
      'No problems, no warnings, 9 ok. The server can run.',
    )
    expect(summaryLine({ ok: 2, warning: 1, problem: 1, skipped: 3 })).to.equal(
      '1 problem, 1 warning, 2 ok, 3 skipped. Fix the problems first.',
    )
  })
})
