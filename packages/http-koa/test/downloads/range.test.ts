import { expect } from 'chai'
import { parseRange } from '../../src/downloads/serve.ts'

const valid: Readonly<Record<string, object>> = {
  'bytes=0-0': { first: 0, last: 0 },
  'bytes=2-5': { first: 2, last: 5 },
  'bytes=5-': { first: 5 },
  'bytes=-5': { suffixLength: 5 },
  'bytes=-0': { suffixLength: 0 },
  'Bytes=1-2': { first: 1, last: 2 },
  'bytes= 1-2 ': { first: 1, last: 2 },
  'bytes=007-0010': { first: 7, last: 10 },
  [`bytes=0-${'9'.repeat(400)}`]: { first: 0, last: Infinity },
  [`bytes=${'9'.repeat(400)}-`]: { first: Infinity },
}

const ignored = [
  undefined,
  '',
  'bytes',
  'bytes=',
  'bytes=-',
  'bytes=5-2',
  // Beyond what numbers of JavaScript keep apart.
  'bytes=9007199254740993-9007199254740992',
  `bytes=${'9'.repeat(399)}1-${'9'.repeat(399)}0`,
  'bytes=0-1,3-4',
  'bytes=0-1,',
  'bytes=a-b',
  'bytes=1.0-2',
  'bytes=+1-2',
  'bytes=--1',
  'bytes=0x0-0x5',
  'bytes=1-2-3',
  'bytes 1-2',
  'bytes =1-2',
  'items=1-2',
  'bytes=1-2\n',
  'bytes=١-٢',
]

describe('parseRange', () => {
  for (const [header, range] of Object.entries(valid)) {
    it(`reads ${header.slice(0, 30)}`, () => {
      expect(parseRange(header)).to.deep.equal(range)
    })
  }
  for (const header of ignored) {
    it(`ignores ${JSON.stringify(header)}`, () => {
      expect(parseRange(header)).to.equal(undefined)
    })
  }
})
