import { expect } from 'chai'
import { createFailureReplica } from '../src/counts/failure-replica.ts'

describe('createFailureReplica', () => {
  let time = 0
  const now = () => time
  const open = (most?: number) =>
    createFailureReplica({ windowMs: 1_000, now, ...(most !== undefined && { most }) })
  beforeEach(() => void (time = 0))

  it('knows what it has learned until that is forgotten', () => {
    const replica = open()
    expect(replica.isEmpty()).to.equal(true)
    replica.learn({ key: 'a', failures: 2, forgottenInMs: 600 })
    time = 599
    expect(replica.read('a')).to.deep.equal({ failures: 2, forgottenInMs: 1 })
    expect(replica.all()).to.deep.equal([{ key: 'a', failures: 2, forgottenInMs: 1 }])
    time = 600
    expect(replica.read('a')).to.deep.equal({ failures: 0, forgottenInMs: 0 })
    expect(replica.all()).to.deep.equal([])
  })

  it('ignores older data that arrive later', () => {
    const replica = open()
    replica.learn({ key: 'a', failures: 3, forgottenInMs: 900 })
    time = 5
    replica.learn({ key: 'a', failures: 2, forgottenInMs: 900 })
    expect(replica.read('a')).to.deep.equal({ failures: 3, forgottenInMs: 895 })
  })

  it('takes over the next period of a key although it remembers the last one a little longer', () => {
    const replica = open()
    replica.learn({ key: 'a', failures: 30, forgottenInMs: 50 })
    time = 40
    replica.learn({ key: 'a', failures: 1, forgottenInMs: 1_000 })
    expect(replica.read('a')).to.deep.equal({ failures: 1, forgottenInMs: 1_000 })
  })

  it('adds what the engine may not have until the engine has confirmed it', () => {
    const replica = open()
    replica.learn({ key: 'a', failures: 3, forgottenInMs: 900 })
    replica.addUnsent('a', 2)
    replica.addUnsent('b', 1)
    expect([replica.read('a').failures, replica.read('b').failures]).to.deep.equal([5, 1])
    expect(replica.counted().map(({ key, failures }) => [key, failures])).to.deep.equal([['a', 3]])
    replica.confirm({ key: 'a', failures: 5, forgottenInMs: 900 }, 2)
    expect(replica.read('a').failures).to.equal(5)
  })

  it('keeps only so many keys, those that it has learned of last', () => {
    const replica = open(3)
    for (const key of ['a', 'b', 'c', 'd']) {
      replica.learn({ key, failures: 1, forgottenInMs: 900 })
    }
    expect(replica.all().map(({ key }) => key)).to.deep.equal(['b', 'c', 'd'])
  })

  it('uses no memory for keys that are forgotten', () => {
    const replica = open()
    for (let n = 0; n < 50; n++) replica.learn({ key: `${n}`, failures: 1, forgottenInMs: 900 })
    time = 900
    replica.learn({ key: 'a', failures: 1, forgottenInMs: 900 })
    expect(replica.all()).to.have.length(1)
  })
})
