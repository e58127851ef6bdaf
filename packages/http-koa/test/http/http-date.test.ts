import { expect } from 'chai'
import { parseHttpDate } from '../../src/http/conditional.ts'

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
