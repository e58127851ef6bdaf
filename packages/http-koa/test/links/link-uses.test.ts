import { expect } from 'chai'
import { createLinkUses } from '../../src/links/open-link.ts'

describe('createLinkUses', () => {
  const use = { token: 't', address: '203.0.113.9', etag: '"1"' }

  it('knows a use until the time since it was noted is over', () => {
    let now = 0
    const uses = createLinkUses({ windowMs: 100, now: () => now })
    expect(uses.isKnown(use)).to.equal(false)
    uses.note(use)
    now = 99
    expect(uses.isKnown(use)).to.equal(true)
    now = 100
    expect(uses.isKnown(use)).to.equal(false)
    uses.note(use)
    now = 199
    expect(uses.isKnown(use)).to.equal(true)
  })

  it('distinguishes links, addresses and contents', () => {
    const uses = createLinkUses()
    uses.note(use)
    for (const other of [{ token: 'u' }, { address: '203.0.113.8' }, { etag: '"2"' }]) {
      expect(uses.isKnown({ ...use, ...other })).to.equal(false)
    }
  })

  it('forgets the use that was noted first where there are too many', () => {
    const uses = createLinkUses({ most: 2 })
    for (const token of ['a', 'b', 'a', 'c']) uses.note({ ...use, token })
    const known = ['a', 'b', 'c'].filter((token) => uses.isKnown({ ...use, token }))
    expect(known).to.deep.equal(['a', 'c'])
  })
})
