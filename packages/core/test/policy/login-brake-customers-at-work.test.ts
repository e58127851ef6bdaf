import { expect } from 'chai'
import { refusal } from '../rejection.ts'
import { turn } from '../turn.ts'
import { crowd, refuseFalse, times } from './crowd.ts'

const address = '1.1.1.1'

/** A brake, and a customer whose password the verifier remembers since a login from `address`. */
async function customerAtWork(...options: Parameters<typeof crowd>) {
  const all = crowd(...options)
  const customer = { name: 'customer', address, password: 'right' }
  const login = () => all.brake.attempt(customer, () => true)
  expect(await all.brake.attempt(customer, async () => true)).to.equal(true)
  return { ...all, login }
}

describe('createLoginBrake, for customers who have logged in from an address', () => {
  it('lets them in at once however many first logins of the address are under way and wait', async () => {
    const { attempt, end, begun, underWay, login } = await customerAtWork()
    const others = times(100, (n) => attempt(`n${n}`, address, { password: 'right' }))
    await turn()
    expect(begun()).to.be.below(30)
    expect(await Promise.race([login(), turn()])).to.equal(true)
    while (underWay() > 0) await end(true)
    expect(await Promise.all(others)).to.deep.equal(times(100, () => true))
  })

  it('lets in those whose first login had to be verified', async () => {
    const { brake, attempt, end } = crowd()
    const first = attempt('customer', address)
    await turn()
    await end(true)
    expect(await first).to.equal(true)
    void times(100, (n) => attempt(`n${n}`, address))
    await turn()
    const next = brake.attempt({ name: 'customer', address }, () => true)
    expect(await Promise.race([next, turn()])).to.equal(true)
  })

  it('lets in those whose password was remembered while others were under way', async () => {
    const { brake, attempt } = crowd()
    const login = () => brake.attempt({ name: 'customer', address }, () => true)
    void attempt('other', address)
    expect(await login()).to.equal(true)
    void times(100, (n) => attempt(`n${n}`, address))
    await turn()
    expect(await Promise.race([login(), turn()])).to.equal(true)
  })

  it('knows those who logged in again lately, however many others have logged in since', async () => {
    const { brake, attempt, login } = await customerAtWork()
    const others = async (prefix: string) => {
      for (let n = 0; n < 6_000; n++) {
        const name = `${prefix}${n}`
        await brake.attempt({ name, address: name }, async () => true)
      }
    }
    await others('a')
    expect(await brake.attempt({ name: 'customer', address }, async () => true)).to.equal(true)
    await others('b')
    void times(100, (n) => attempt(`n${n}`, address))
    await turn()
    expect(await Promise.race([login(), turn()])).to.equal(true)
  })

  it('lets no more guesses begin for it than may fail', async () => {
    const { attempt, end, begun, underWay } = await customerAtWork()
    const names = times(200, (n) => (n % 2 ? 'customer' : `n${n}`))
    const guesses = names.map((name) => refusal(attempt(name, address).then(refuseFalse)))
    await turn()
    while (underWay() > 0) await end(false)
    const codes = await Promise.all(guesses)
    expect(begun()).to.equal(30)
    expect(codes.filter((code) => code === 'invalid-credentials').length).to.equal(30)
  })

  it('checks no guess on their names while all places are taken', async () => {
    const { brake, attempt, begun } = await customerAtWork()
    void times(100, (n) => attempt(`n${n}`, address))
    void times(10, () => attempt('customer', address))
    await turn()
    expect(begun()).to.equal(30)
    let isChecked = false
    const check = () => (isChecked = true)
    void brake.attempt({ name: 'customer', address, password: 'guess' }, check)
    await turn()
    expect(isChecked).to.equal(false)
  })

  it('keeps no place for others: a customer of another address waits', async () => {
    const { brake, attempt } = await customerAtWork()
    void times(100, (n) => attempt(`n${n}`, '2.2.2.2'))
    await turn()
    const elsewhere = brake.attempt({ name: 'customer', address: '2.2.2.2' }, () => true)
    expect(await Promise.race([elsewhere, turn()])).to.equal(undefined)
  })

  it('lets ordinary logins have the last places that failures have left', async () => {
    const { attempt, end, login } = await customerAtWork()
    for (let n = 0; n < 29; n++) {
      const failing = attempt(`n${n}`, address)
      await turn()
      await end(false)
      expect(await failing).to.equal(false)
    }
    const last = attempt('other', address)
    await turn()
    await end(true)
    expect(await last).to.equal(true)
    expect(await login()).to.equal(true)
  })
})
