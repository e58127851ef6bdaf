import fc from 'fast-check'
import { expect } from 'chai'
import { decodeHeaderText, decodePathSegment, decodeUtf8 } from '../../src/http/text.ts'

const seed = 20_240_506
const bytes = (hex: string) => Buffer.from(hex, 'hex')
const notUtf8 = ['80', 'ff', 'c080', 'c0af', 'e080af', 'eda080', 'f4908080', 'c3', 'c328', '61ff62']

describe('decodeUtf8', () => {
  it('gives back every well-formed text', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, (each) => decodeUtf8(Buffer.from(each)) === each),
      { seed },
    )
  })
  it('keeps a byte order mark', () => {
    expect(decodeUtf8(bytes('efbbbf61'))).to.equal('\ufeffa')
  })
  for (const hex of notUtf8) {
    it(`is undefined for ${hex}`, () => {
      expect(decodeUtf8(bytes(hex))).to.equal(undefined)
    })
  }
})

describe('decodeHeaderText', () => {
  it('reads as UTF-8 what is UTF-8', () => {
    expect(decodeHeaderText(Buffer.from('zoë 文').toString('latin1'))).to.equal('zoë 文')
  })
  it('leaves in Latin-1 what is not', () => {
    expect(decodeHeaderText('zo\u00eb')).to.equal('zoë')
  })
})

describe('decodePathSegment', () => {
  it('undoes what encodeURIComponent does, once', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, (each) => decodePathSegment(encodeURIComponent(each)) === each),
      { seed },
    )
    expect(decodePathSegment('%2541+b')).to.equal('%41+b')
  })
  for (const hex of notUtf8) {
    it(`is undefined for the bytes ${hex}`, () => {
      expect(decodePathSegment(hex.replaceAll(/../g, '%$&'))).to.equal(undefined)
    })
  }
  for (const segment of ['%', '%4', '%zz', 'a%']) {
    it(`is undefined for ${segment}`, () => {
      expect(decodePathSegment(segment)).to.equal(undefined)
    })
  }
})
