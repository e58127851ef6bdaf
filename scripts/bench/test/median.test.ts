import { expect } from 'chai'
import { median } from '../measure/median.ts'

describe('median', () => {
  it('is the middle one, whatever the order, or lies between the middle two', () => {
    expect(median([30, 1, 2])).to.equal(2)
    expect(median([4, 1, 100, 2])).to.equal(3)
    expect(median([7])).to.equal(7)
  })

  it('is no number where there is none', () => {
    expect(median([])).to.deep.equal(NaN)
  })
})
