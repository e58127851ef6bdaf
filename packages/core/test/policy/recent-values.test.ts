import { expect } from 'chai'
import { createRecentValues } from '../../src/policy/recent-values.ts'

describe('createRecentValues', () => {
  it('has the values that were set last, and no more than the limit', () => {
    const values = createRecentValues<number>(2)
    for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) values.set(key, index)
    expect(['a', 'b', 'c', 'd'].map((key) => values.get(key))).to.deep.equal([
      2,
      undefined,
      3,
      undefined,
    ])
  })
})
