import { expect } from 'chai'
import { createStagedBytes } from '../../src/policy/quota-accounts.ts'

describe('createStagedBytes', () => {
  it('sums up what uploads have, each by its largest number', () => {
    const staged = createStagedBytes()
    staged.raise('a', 10)
    staged.raise('b', 5)
    staged.raise('a', 7)
    staged.raise('c', 0)
    expect(staged.total()).to.equal(15)
    staged.raise('a', 20)
    expect([staged.total(), staged.of('a'), staged.of('c'), staged.of('d')]).to.deep.equal([
      25, 20, 0, 0,
    ])
    expect(staged.ids()).to.deep.equal(['a', 'b'])
  })

  it('forgets an upload, once', () => {
    const staged = createStagedBytes()
    staged.raise('a', 10)
    staged.raise('b', 5)
    staged.remove('a')
    staged.remove('a')
    staged.remove('c')
    expect([staged.total(), staged.of('a')]).to.deep.equal([5, 0])
    staged.raise('a', 3)
    expect(staged.total()).to.equal(8)
  })
})
