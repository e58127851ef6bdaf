import { expect } from 'chai'
import { failureKey } from '../../src/login-failure-counter.ts'
import { createReplicatedFailureCounter } from '../../src/workers/replicated-counters.ts'

describe('createReplicatedFailureCounter', () => {
  it('knows what it got, at once, until it is forgotten', () => {
    let now = 0
    const told = createReplicatedFailureCounter(() => now)
    told.apply({ key: failureKey('a'), failures: 1, forgottenInMs: 100 })
    now = 60
    told.apply({ key: failureKey('a'), failures: 2, forgottenInMs: 40 })
    told.apply({ key: failureKey('b'), failures: 1, forgottenInMs: 100 })
    expect(told.read('a')).to.deep.equal({ failures: 2, forgottenInMs: 40 })
    now = 100
    expect(told.read('a')).to.deep.equal({ failures: 0, forgottenInMs: 0 })
    expect(told.all()).to.deep.equal([{ key: failureKey('b'), failures: 1, forgottenInMs: 60 }])
  })

  it('begins a new period where the last one, which was reported late, has not ended', () => {
    let now = 10
    const replica = createReplicatedFailureCounter(() => now)
    replica.apply({ key: failureKey('a'), failures: 5, forgottenInMs: 100 })
    now = 105
    replica.apply({ key: failureKey('a'), failures: 6, forgottenInMs: 100 })
    now = 150
    expect(replica.read('a')).to.deep.equal({ failures: 6, forgottenInMs: 55 })
    replica.apply({ key: failureKey('b'), failures: 1, forgottenInMs: 100 })
    replica.apply({ key: failureKey('a'), failures: 7, forgottenInMs: 55 })
    now = 220
    expect(replica.all()).to.deep.equal([{ key: failureKey('b'), failures: 1, forgottenInMs: 30 }])
  })

  it('counts nothing by itself', async () => {
    const told = createReplicatedFailureCounter()
    await told.add('a')
    expect(told.read('a').failures).to.equal(0)
  })
})
