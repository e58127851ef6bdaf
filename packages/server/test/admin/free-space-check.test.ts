import { expect } from 'chai'
import { freeSpaceCheck } from '../../src/admin/open-admin.ts'

describe('freeSpaceCheck', () => {
  it('is content with the least that there has to be, and not with a byte less', async () => {
    const look = (bytes: number) => freeSpaceCheck(async () => bytes, 5_000_000).look()
    const figures = { least: 5_000_000 }
    expect(await look(5_000_000)).to.include({ ok: true, bytes: 5_000_000, ...figures })
    expect(await look(4_999_999)).to.include({
      ok: false,
      why: '5.00 MB are left, less than the 5.00 MB of --min-free-space',
      bytes: 4_999_999,
      ...figures,
    })
  })
})
