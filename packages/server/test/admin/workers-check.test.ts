import { expect } from 'chai'
import { workersCheck } from '../../src/admin/open-admin.ts'

describe('workersCheck', () => {
  it('wants all workers to answer, and says how many do', async () => {
    const look = (count: number) => workersCheck({ wanted: 4, answering: async () => count }).look()
    expect(await look(4)).to.include({ ok: true, count: 4, wanted: 4 })
    expect(await look(3)).to.include({ ok: false, why: '3 of 4 answer', count: 3, wanted: 4 })
  })
})
