import { expect } from 'chai'
import { localTime } from '../../../src/terminal/format.ts'

describe('localTime', () => {
  it('says the day and the minute, wherever the machine is', () => {
    const time = new Date(2026, 0, 2, 3, 4, 59)
    expect(localTime(time.toJSON())).to.equal('2026-01-02 03:04')
  })

  it('says nothing of what is no time', () => {
    expect(localTime('soon')).to.equal('-')
  })
})
