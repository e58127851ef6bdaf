import { expect } from 'chai'
import {
  etagOf,
  evaluatePreconditions,
  ifRangeHolds,
  parseHttpDate,
} from '../../src/http/conditional.ts'

const info = {
  name: 'a.txt',
  size: 4,
  modifiedAt: new Date('2024-05-06T07:08:09.500Z'),
  etag: 'tag',
}
const before = 'Mon, 06 May 2024 07:08:08 GMT'
const same = 'Mon, 06 May 2024 07:08:09 GMT'
const later = 'Mon, 06 May 2024 07:08:10 GMT'

type Verdict = 'proceed' | 'not-modified' | 'failed'
type Fields = Readonly<Record<string, string>>
const verdicts: readonly (readonly [fields: Fields, verdict: Verdict])[] = [
  [{}, 'proceed'],
  [{ 'if-match': '"tag"' }, 'proceed'],
  [{ 'if-match': '*' }, 'proceed'],
  [{ 'if-match': ' * ' }, 'proceed'],
  [{ 'if-match': '"a", "tag", "b"' }, 'proceed'],
  [{ 'if-match': '"a","tag"' }, 'proceed'],
  [{ 'if-match': '"a, b", "tag"' }, 'proceed'],
  [{ 'if-match': '"other"' }, 'failed'],
  [{ 'if-match': 'W/"tag"' }, 'failed'],
  [{ 'if-match': 'w/"tag"' }, 'failed'],
  [{ 'if-match': 'tag' }, 'failed'],
  [{ 'if-match': '"tag' }, 'failed'],
  [{ 'if-match': '"TAG"' }, 'failed'],
  [{ 'if-match': '' }, 'failed'],
  [{ 'if-none-match': '"tag"' }, 'not-modified'],
  [{ 'if-none-match': 'W/"tag"' }, 'not-modified'],
  [{ 'if-none-match': '*' }, 'not-modified'],
  [{ 'if-none-match': 'W/"a", W/"tag"' }, 'not-modified'],
  [{ 'if-none-match': '"other"' }, 'proceed'],
  [{ 'if-none-match': 'tag' }, 'proceed'],
  [{ 'if-none-match': '' }, 'proceed'],
  [{ 'if-unmodified-since': before }, 'failed'],
  [{ 'if-unmodified-since': same }, 'proceed'],
  [{ 'if-unmodified-since': later }, 'proceed'],
  [{ 'if-unmodified-since': 'yesterday' }, 'proceed'],
  [{ 'if-unmodified-since': '2001-01-01' }, 'proceed'],
  [{ 'if-modified-since': before }, 'proceed'],
  [{ 'if-modified-since': same }, 'not-modified'],
  [{ 'if-modified-since': later }, 'not-modified'],
  [{ 'if-modified-since': 'Monday, 06-May-24 07:08:09 GMT' }, 'not-modified'],
  [{ 'if-modified-since': 'Mon May  6 07:08:09 2024' }, 'not-modified'],
  [{ 'if-modified-since': 'Mon May  6 07:08:08 2024' }, 'proceed'],
  [{ 'if-modified-since': '' }, 'proceed'],
  [{ 'if-modified-since': '2999-01-01' }, 'proceed'],
  [{ 'if-modified-since': '2999' }, 'proceed'],
  [{ 'if-modified-since': 'Mon, 06 May 2999 07:08:09 +0000' }, 'proceed'],
  [{ 'if-modified-since': 'Mon, 06 May 2024 25:08:09 GMT' }, 'proceed'],
  // RFC 9110 §13.2.2: tags win over dates, If-Match comes before If-None-Match.
  [{ 'if-match': '"tag"', 'if-unmodified-since': before }, 'proceed'],
  [{ 'if-match': '"other"', 'if-unmodified-since': later }, 'failed'],
  [{ 'if-none-match': '"other"', 'if-modified-since': later }, 'proceed'],
  [{ 'if-none-match': '"tag"', 'if-modified-since': before }, 'not-modified'],
  [{ 'if-match': '"tag"', 'if-none-match': '"tag"' }, 'not-modified'],
  [{ 'if-match': '"other"', 'if-none-match': '"tag"' }, 'failed'],
  [{ 'if-unmodified-since': before, 'if-none-match': '"tag"' }, 'failed'],
  [{ 'if-unmodified-since': later, 'if-modified-since': later }, 'not-modified'],
]

describe('evaluatePreconditions', () => {
  for (const [fields, verdict] of verdicts) {
    it(`says ${verdict} to ${JSON.stringify(fields)}`, () => {
      expect(evaluatePreconditions(fields, info)).to.equal(verdict)
    })
  }
})

const ranges: readonly (readonly [ifRange: string, holds: boolean])[] = [
  ['"tag"', true],
  ['"other"', false],
  ['W/"tag"', false],
  ['*', false],
  ['', false],
  [same, false],
  [before, false],
  [later, false],
  ['2024-05-06T07:08:09Z', false],
]

describe('ifRangeHolds', () => {
  it('is true without If-Range', () => {
    expect(ifRangeHolds({}, info)).to.equal(true)
  })
  for (const [ifRange, holds] of ranges) {
    it(`is ${holds} for ${ifRange}`, () => {
      expect(ifRangeHolds({ 'if-range': ifRange }, info)).to.equal(holds)
    })
  }
})

describe('etagOf', () => {
  it('is a strong entity tag', () => {
    expect(etagOf(info)).to.equal('"tag"')
  })
})

const instant = Date.UTC(1994, 10, 6, 8, 49, 37)
const now = Date.UTC(2026, 0, 1)

const invalid = [
  '',
  '0',
  'Sun',
  '1994-11-06T08:49:37Z',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 06 Nov 1994 08:49:37 UTC',
  'Sun, 06 Nov 1994 08:49:37 +0000',
  'Sun, 6 Nov 1994 08:49:37 GMT',
  'sun, 06 nov 1994 08:49:37 gmt',
  'Sun, 06 Nov 1994 24:49:37 GMT',
  'Sun, 06 Nov 1994 08:60:37 GMT',
  'Sun, 31 Feb 1994 08:49:37 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nom 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  'Sunday, 06-Nov-1994 08:49:37 GMT',
  'Sun Nov 6 08:49:37 1994',
]

describe('parseHttpDate', () => {
  for (const zone of ['UTC', 'America/New_York', 'Pacific/Kiritimati']) {
    it(`reads the three forms of RFC 9110 §5.6.7 on a machine in ${zone}`, () => {
      const { TZ } = process.env
      process.env['TZ'] = zone
      try {
        expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).to.equal(instant)
        expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT')).to.equal(instant)
        expect(parseHttpDate('Sun Nov  6 08:49:37 1994')).to.equal(instant)
      } finally {
        if (TZ === undefined) delete process.env['TZ']
        else process.env['TZ'] = TZ
      }
    })
  }

  it('takes a year of two digits for the latest one that is not fifty years ahead', () => {
    const inYear = (year: string) =>
      new Date(parseHttpDate(`Sunday, 06-Nov-${year} 08:49:37 GMT`, now) ?? 0).getUTCFullYear()
    expect(['26', '70', '75', '76', '77', '94'].map(inYear)).to.deep.equal([
      2026, 2070, 2075, 2076, 1977, 1994,
    ])
  })

  it('reads what Date prints', () => {
    const date = new Date(Math.floor(Date.now() / 1000) * 1000)
    expect(parseHttpDate(date.toUTCString())).to.equal(date.getTime())
  })

  for (const text of invalid) {
    it(`is undefined for ${JSON.stringify(text)}`, () => {
      expect(parseHttpDate(text)).to.equal(undefined)
    })
  }
})
