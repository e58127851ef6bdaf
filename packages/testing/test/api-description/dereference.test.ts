import { expect } from 'chai'
import { dereference } from '../../src/api-description/judge.ts'

describe('dereference', () => {
  it('puts what a reference points to in its place, however deep', () => {
    const document = {
      a: [{ $ref: '#/b/c~1d' }],
      b: { 'c/d': { e: { $ref: '#/f' } } },
      f: 1,
    }
    expect(dereference(document)).to.deep.equal({
      a: [{ e: 1 }],
      b: { 'c/d': { e: 1 } },
      f: 1,
    })
  })

  it('refuses a reference that leads nowhere', () => {
    expect(() => dereference({ a: { $ref: '#/b' } })).to.throw('#/b leads nowhere')
  })
})
