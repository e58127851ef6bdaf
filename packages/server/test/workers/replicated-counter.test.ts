import { expect } from 'chai'
import {
  createReplicatedCounter,
  stepOfLimit,
  type ReplicatedCount,
} from '../../src/workers/replicated-counters.ts'

describe('createReplicatedCounter', () => {
  const said: ReplicatedCount[] = []
  beforeEach(() => void said.splice(0))
  const counterOf = (step: number) =>
    createReplicatedCounter(step, (change) => void said.push(change))

  it('counts what is under way here and elsewhere', () => {
    const counter = counterOf(10)
    counter.change('a', 1)
    counter.apply({ key: 'a', count: 5 })
    expect(counter.count('a')).to.equal(6)
    counter.apply({ key: 'a', count: 0 })
    counter.change('a', -1)
    expect(counter.count('a')).to.equal(0)
    expect(said).to.deep.equal([])
  })

  it('reports every step, and the end of what it has reported', () => {
    const counter = counterOf(3)
    for (let n = 0; n < 7; n++) counter.change('a', 1)
    expect(said).to.deep.equal([
      { key: 'a', count: 3 },
      { key: 'a', count: 6 },
    ])
    for (let n = 0; n < 7; n++) counter.change('a', -1)
    expect(said.slice(2)).to.deep.equal([
      { key: 'a', count: 3 },
      { key: 'a', count: 0 },
    ])
  })

  it('has steps of which all workers together leave less than an eighth untold', () => {
    expect(stepOfLimit(1000, 2)).to.equal(62)
    expect(stepOfLimit(3, 8)).to.equal(1)
  })
})
