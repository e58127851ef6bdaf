import { expect } from 'chai'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { crowd, refuseFalse, times } from './crowd.ts'

describe('createLoginBrake, for equal attempts at once', () => {
  it('lets in a crowd with one password from one address, however few may wait', async () => {
    const { brake } = crowd({ failuresPerAddress: 2, waitingPerAddress: 1 })
    const hashing = Promise.withResolvers<true>()
    let isRemembered = false
    let hashes = 0
    const verify = () => {
      if (isRemembered) return true
      hashes++
      return hashing.promise
    }
    const login = { name: 'alice', address: '1.1.1.1', password: 'right' }
    const logins = times(1000, () => brake.attempt(login, verify))
    await turn()
    isRemembered = true
    hashing.resolve(true)
    expect(await Promise.all(logins)).to.deep.equal(times(1000, () => true))
    expect(hashes).to.equal(2)
  })

  it('lets in a crowd with one password that is remembered nowhere', async () => {
    const { attempt, end, underWay } = crowd({ waitingPerAddress: 1 })
    const logins = times(300, () => attempt('alice', '1.1.1.1', { password: 'right' }))
    await turn()
    while (underWay() > 0) {
      expect(underWay()).to.be.at.most(10)
      await end(true, 10)
    }
    expect(await Promise.all(logins)).to.deep.equal(times(300, () => true))
  })

  it('lets in no one for an equal attempt that was right before the password changed', async () => {
    const { brake } = crowd({ failuresPerName: 1 })
    const login = { name: 'alice', address: '1.1.1.1', password: 'old' }
    const hashing = Promise.withResolvers<true>()
    const early = times(2, () => brake.attempt(login, () => hashing.promise))
    const late = brake.attempt(login, async () => false)
    await turn()
    hashing.resolve(true)
    expect(await Promise.all(early)).to.deep.equal([true, true])
    expect(await late).to.equal(false)
  })

  it('gives a place of its own to each password, name and address', async () => {
    const { attempt, end, underWay } = crowd({ failuresPerAddress: 1, waitingPerAddress: 1 })
    const others: [string, string][] = [
      ['alice', 'b'],
      ['bob', 'a'],
      ['alice a', ''],
      ['', 'alice a'],
    ]
    const logins = times(3, () => attempt('alice', '1.1.1.1', { password: 'a' }))
    await turn()
    for (const [name, password] of others) {
      expect(await refusal(attempt(name, '1.1.1.1', { password }))).to.equal('overloaded')
    }
    const elsewhere = times(3, () => attempt('alice', '2.2.2.2', { password: 'a' }))
    while (underWay() > 0) await end(true)
    expect(await Promise.all([...logins, ...elsewhere])).to.deep.equal(times(6, () => true))
  })

  it('counts each of many equal guesses, one after another', async () => {
    const { attempt, end, begun, underWay } = crowd()
    const outcomes = times(1000, () =>
      refusal(attempt('alice', '1.1.1.1', { password: 'wrong' }).then(refuseFalse)),
    )
    await turn()
    while (underWay() > 0) await end(false)
    const codes = await Promise.all(outcomes)
    expect(begun()).to.equal(10)
    expect(codes.filter((code) => code === 'invalid-credentials').length).to.equal(10)
    expect(codes.filter((code) => code === 'too-many-attempts').length).to.equal(990)
  })

  it('lets equal attempts go on when the one that waits for them leaves or fails', async () => {
    const { attempt, end, begun } = crowd({ failuresPerAddress: 3, failuresPerName: 1 })
    const leaving = new AbortController()
    const gone = new Error('gone')
    const down = new Error('down')
    const login = (more = {}) => attempt('alice', '1.1.1.1', { password: 'right', ...more })
    const first = login()
    const aborted = times(3, () => rejection(login({ signal: leaving.signal })))
    const failing = rejection(login())
    const late = times(3, () => login())
    await turn()
    leaving.abort(gone)
    await end(true)
    expect(await Promise.all(aborted)).to.deep.equal(times(3, () => gone))
    await turn()
    await end(down)
    expect(await failing).to.equal(down)
    await turn()
    await end(true)
    await end(true)
    await end(true)
    expect(await Promise.all([first, ...late])).to.deep.equal(times(4, () => true))
    expect(begun()).to.equal(5)
  })

  it('lets only so many equal attempts of an address wait', async () => {
    const { brake } = crowd({ failuresPerAddress: 1 })
    const hashing = Promise.withResolvers<true>()
    const login = { name: 'alice', address: '1.1.1.1', password: 'right' }
    const logins = times(2002, (n) => brake.attempt(login, () => n > 0 || hashing.promise))
    await turn()
    expect(await refusal(brake.attempt(login, () => true))).to.equal('overloaded')
    hashing.resolve(true)
    expect(await Promise.all(logins)).to.deep.equal(times(2002, () => true))
  })
})
