import { expect } from 'chai'
import { printableTitle } from '../printable-title.ts'

describe('printableTitle', () => {
  it('keeps printable ASCII', () => {
    const title = 'keeps "a|b`c`  \\\\ {x}" as it is ~'
    expect(printableTitle(title)).to.equal(title)
  })

  it('writes other characters as JSON does', () => {
    expect(printableTitle('"caf\u00e9 \u202e\u2028\u{1f600}\t"')).to.equal(
      '"caf\\u00e9 \\u202e\\u2028\\ud83d\\ude00\\u0009"',
    )
  })

  it('keeps names apart that look the same', () => {
    expect(printableTitle('\u00c5')).not.to.equal(printableTitle('\u212b'))
  })

  it('shortens a long run of one character, also of two code units', () => {
    expect(printableTitle(`${'x'.repeat(254)}y`)).to.equal('x{254}y')
    expect(printableTitle('\u{1f600}'.repeat(63))).to.equal('\\ud83d\\ude00{63}')
    expect(printableTitle('x'.repeat(20))).to.equal('x'.repeat(20))
  })
})
