import { seeded } from '@holdfast/testing'
import { expect } from 'chai'
import { compareUtf8, sortUtf8 } from '../../src/model/file-name.ts'

// Around every point where the length of the encoding, or the order of UTF-16 units, changes.
const characters = [
  0x00, 0x2f, 0x41, 0x61, 0x7f, 0x80, 0xe9, 0x7ff, 0x800, 0x5b57, 0xd7ff, 0xe000, 0xff5e, 0xffff,
  0x10000, 0x1f600, 0x1f601, 0x1f900, 0x10ffff,
].map((code) => String.fromCodePoint(code))

describe('compareUtf8', () => {
  it('puts U+FF5E before U+1F600, unlike JavaScript', () => {
    expect(['\u{1f600}', '\uff5e'].sort(compareUtf8)).to.deep.equal(['\uff5e', '\u{1f600}'])
    expect(['\u{1f600}', '\uff5e'].sort()).to.deep.equal(['\u{1f600}', '\uff5e'])
  })

  it('puts a prefix first', () => {
    expect(compareUtf8('a', 'ab')).to.be.below(0)
    expect(compareUtf8('ab', 'a')).to.be.above(0)
    expect(compareUtf8('', 'a')).to.be.below(0)
  })

  it('is zero for equal strings only', () => {
    expect(compareUtf8('', '')).to.equal(0)
    expect(compareUtf8('a\u{1f600}', 'a\u{1f600}')).to.equal(0)
    expect(compareUtf8('caf\u00e9', 'cafe\u0301')).not.to.equal(0)
  })

  it('orders every two characters as their bytes', () => {
    for (const a of characters) for (const b of characters) expectSameOrder(a, b)
  })

  it('orders random strings as their bytes', () => {
    const random = seeded(1)
    const string = () =>
      Array.from({ length: random(6) }, () => characters[random(characters.length)] ?? '').join('')
    for (let run = 0; run < 50_000; run++) {
      const start = string()
      expectSameOrder(start + string(), start + string())
    }
  })

  it('orders random code points as their bytes', () => {
    const random = seeded(2)
    const character = () => {
      const code = random(0x110000)
      return code >= 0xd800 && code <= 0xdfff ? 'x' : String.fromCodePoint(code)
    }
    for (let run = 0; run < 50_000; run++) {
      const start = character()
      expectSameOrder(start + character(), start + character())
    }
  })
})

describe('sortUtf8', () => {
  it('sorts as the comparison does, with and without characters beyond the basic plane', () => {
    for (const few of [characters, characters.filter((character) => character.length === 1)]) {
      const strings = few.flatMap((a) => few.map((b) => a + b)).reverse()
      expect(sortUtf8([...strings])).to.deep.equal([...strings].sort(compareUtf8))
    }
  })

  it('sorts in place', () => {
    const strings = ['b', 'a']
    expect(sortUtf8(strings)).to.equal(strings)
    expect(strings).to.deep.equal(['a', 'b'])
  })
})

function expectSameOrder(a: string, b: string) {
  const bytesOrder = Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (Math.sign(compareUtf8(a, b)) === bytesOrder) return
  expect.fail(`${JSON.stringify(a)} and ${JSON.stringify(b)} compare unlike their bytes`)
}
