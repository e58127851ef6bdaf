import { expect } from 'chai'
import { createRecentKeys } from '../../src/policy/recent-keys.ts'

describe('createRecentKeys', () => {
  it('has the keys that were added last, and no more than the limit', () => {
    const keys = createRecentKeys(2)
    for (const key of ['a', 'b', 'a', 'c']) keys.add(key)
    expect(['a', 'b', 'c', 'd'].map((key) => keys.has(key))).to.deep.equal([
      true,
      false,
      true,
      false,
    ])
  })
})
