import { expect } from 'chai'
import { formatDuration, localTime } from '../../src/terminal/format.ts'

describe('formatDuration', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [0.4, '0s'],
    [59.4, '59s'],
    [59.6, '1m 00s'],
    [65, '1m 05s'],
    [3599, '59m 59s'],
    [3600, '1h 00m'],
    [94_200, '26h 10m'],
  ]
  for (const [seconds, text] of cases) {
    it(`writes ${seconds} as ${text}`, () => expect(formatDuration(seconds)).to.equal(text))
  }
})

describe('localTime', () => {
  it('says the day and the minute, wherever the machine is', () => {
    const time = new Date(2026, 0, 2, 3, 4, 59)
    expect(localTime(time.toJSON())).to.equal('2026-01-02 03:04')
  })

  it('says nothing of what is no time', () => {
    expect(localTime('soon')).to.equal('-')
  })
})
