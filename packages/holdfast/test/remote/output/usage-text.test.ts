import { expect } from 'chai'
import { usageText } from '../../../src/remote/files/du.ts'

describe('usageText', () => {
  const unfinished = { uploads: 0, bytes: 0 }

  it('says the limits, and how much of them is used', () => {
    const usage = {
      files: 3,
      bytes: 2_500_000_000,
      quota: 50_000_000_000,
      maxFiles: 10,
      unfinished,
    }
    expect(usageText(usage)).to.equal(
      'size        2.50 GB (2500000000 bytes) of 50.0 GB (5%)\nfiles       3 of 10',
    )
  })

  it('rounds down what is used, but says that it is something', () => {
    const share = (bytes: number, quota: number) =>
      /\((\S+%)\)$/m.exec(usageText({ files: 1, bytes, quota, unfinished }))?.[1]
    expect([share(0, 1000), share(1, 1000), share(999, 1000), share(0, 0)]).to.deep.equal([
      '0%',
      '<1%',
      '99%',
      '100%',
    ])
  })

  it('says what is unfinished, where something is', () => {
    const usage = { files: 0, bytes: 0, unfinished: { uploads: 1, bytes: 5 } }
    expect(usageText(usage)).to.include('unfinished  1 upload with 5 B')
  })
})
