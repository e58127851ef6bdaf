import { expect } from 'chai'
import { parseDuration, parsePeriod, parseTime } from '../../src/config/parse-setting.ts'

describe('parseDuration', () => {
  const durations: readonly (readonly [string, number])[] = [
    ['1ms', 1],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    [' 2 h ', 7_200_000],
    ['2147483647ms', 2_147_483_647],
    ['596h', 2_145_600_000],
  ]
  for (const [text, ms] of durations) {
    it(`takes "${text}" for ${ms} ms`, () => {
      expect(parseDuration(text)).to.equal(ms)
    })
  }

  const refused = [
    '',
    '60',
    's',
    '-1s',
    '0s',
    '0.4ms',
    '1d',
    '5M',
    '1e3s',
    '1 s 2',
    '2147483648ms',
    '597h',
  ]
  for (const text of refused) {
    it(`refuses "${text}"`, () => {
      expect(() => parseDuration(text)).to.throw(
        RangeError,
        'is not a time between 1ms and 24 days',
      )
    })
  }
})

describe('parsePeriod', () => {
  for (const [text, ms] of [
    ['1ms', 1],
    ['90m', 5_400_000],
    ['1000h', 3_600_000_000],
    ['7d', 604_800_000],
    [' 0.5 d', 43_200_000],
    ['1000d', 86_400_000_000],
  ] as const) {
    it(`takes "${text}" for ${ms} ms`, () => {
      expect(parsePeriod(text)).to.equal(ms)
    })
  }

  for (const text of ['', '7', '0d', '-1d', '1001d', '1w', '7D', 'd']) {
    it(`refuses "${text}"`, () => {
      expect(() => parsePeriod(text)).to.throw(
        RangeError,
        'is not a time between 1ms and 1000 days',
      )
    })
  }
})

describe('parseTime', () => {
  it('reads a moment, and a period before now', () => {
    expect(parseTime('2026-11-21T02:45:56Z')).to.equal(Date.UTC(2026, 10, 21, 2, 45, 56))
    expect(parseTime('2026-11-21')).to.equal(Date.UTC(2026, 10, 21))
    expect(parseTime('3d')).to.be.closeTo(Date.now() - 3 * 86_400_000, 10_000)
  })

  for (const text of ['', 'yesterday', '3', '2026-13-40']) {
    it(`refuses "${text}"`, () => {
      expect(() => parseTime(text)).to.throw(RangeError, 'is not a time; write it as in 2026-11-21')
    })
  }
})
