import { expect } from 'chai'
import { createKeyedCounter } from '../../src/model/keyed-counter.ts'

describe('createKeyedCounter', () => {
  it('counts each key for itself, from 0', () => {
    const counter = createKeyedCounter()
    expect(counter.count('a')).to.equal(0)
    expect([counter.change('a', 1), counter.change('a', 2), counter.change('b', 1)]).to.deep.equal([
      1, 3, 1,
    ])
    expect([counter.count('a'), counter.count('b')]).to.deep.equal([3, 1])
    expect(counter.change('a', -2)).to.equal(1)
  })

  it('sets a count', () => {
    const counter = createKeyedCounter()
    counter.change('a', 1)
    counter.set('a', 7)
    expect(counter.count('a')).to.equal(7)
  })

  it('takes any text for a key', () => {
    const counter = createKeyedCounter()
    for (const key of ['', '__proto__', 'constructor']) {
      expect(counter.count(key)).to.equal(0)
      expect(counter.change(key, 1)).to.equal(1)
    }
  })

  it('keeps nothing of what is none', () => {
    const counter = createKeyedCounter()
    for (const key of ['a', 'b', 'c']) counter.change(key, 1)
    counter.change('a', -1)
    counter.set('b', 0)
    expect(counter.keys()).to.deep.equal(['c'])
    expect(counter.count('a')).to.equal(0)
  })

  it('may be changed while its keys are gone through', () => {
    const counter = createKeyedCounter()
    for (const key of ['a', 'b', 'c']) counter.change(key, 1)
    for (const key of counter.keys()) counter.set(key, 0)
    expect(counter.keys()).to.deep.equal([])
  })
})
