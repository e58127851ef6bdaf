import { expect } from 'chai'
import { aims, finderIn, isReached } from '../report/aims.ts'
import { row } from './result-fixtures.ts'

describe('aims', () => {
  it('are held against what was measured', () => {
    const find = finderIn([
      row('holdfast', '/ping', { cpuMicroseconds: 50 }),
      row('application', '/plain', { cpuMicroseconds: 40 }),
      row('application', '/authenticated', { cpuMicroseconds: 42 }),
    ])
    const aim = aims.find(({ scenario }) => scenario === 'authentication')!
    expect(aim.measured(find)).to.be.closeTo(4, 1e-9)
    expect(isReached(aim, 4)).to.equal(true)
    expect(isReached(aim, 5.1)).to.equal(false)
  })

  it('are neither reached nor missed where nothing was measured', () => {
    for (const aim of aims) {
      const value = aim.measured(finderIn([]))
      expect(value, aim.what).to.deep.equal(NaN)
      expect(isReached(aim, value)).to.equal(undefined)
    }
  })
})
