import { expect } from 'chai'
import { clockFinding } from '../../../src/inspect/inspect-data-directory.ts'

describe('clockFinding', () => {
  const at = (fileTime: number) => clockFinding(fileTime, { begin: 100_000, end: 100_010 })

  it('forgives what kernels and file systems round', () => {
    for (const time of [98_000, 100_005, 102_000]) {
      expect(at(time).message, String(time)).to.equal('are those of this machine')
    }
  })

  it('warns when the clocks disagree, and says which way', () => {
    expect(at(40_000)).to.deep.equal({
      check: 'file times',
      mark: 'warning',
      message: 'the clock of the file system is 60 s behind that of this machine',
      remedies: ['Set both by NTP; on this machine: timedatectl set-ntp true'],
    })
    expect(at(130_010).message).to.include('30 s ahead of that')
  })
})
