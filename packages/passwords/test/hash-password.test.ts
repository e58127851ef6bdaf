import { scryptSync } from 'node:crypto'
import { cheapCost, rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { hashPassword } from '../src/hash-password.ts'
import { parseScryptHash } from '../src/compute-scrypt.ts'

describe('hashPassword', () => {
  it('makes a PHC string of the standard cost', async () => {
    expect(await hashPassword('secret')).to.match(
      /^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    )
  })

  it('hashes the UTF-8 bytes of the password as scrypt does', async () => {
    const { salt, hash } = parseScryptHash(await hashPassword('pässwörd 密', cheapCost))
    const expected = scryptSync(Buffer.from('pässwörd 密', 'utf8'), salt, 32, { N: 16, r: 8, p: 1 })
    expect(hash.equals(expected)).to.equal(true)
  })

  it('salts: one password has another hash each time', async () => {
    expect(await hashPassword('secret', cheapCost)).to.not.equal(
      await hashPassword('secret', cheapCost),
    )
  })

  it('computes every cost within bounds, the largest too', async () => {
    for (const cost of [
      cheapCost,
      { ln: 1, r: 1, p: 1 },
      { ln: 17, r: 8, p: 4 },
      { ln: 10, r: 32, p: 16 },
    ]) {
      const { cost: kept } = parseScryptHash(await hashPassword('x', cost))
      expect(kept).to.deep.equal(cost)
    }
  })

  it('refuses a password that is no string', async () => {
    for (const password of [undefined, 5] as never[]) {
      expect(await rejection(hashPassword(password, cheapCost)))
        .to.be.instanceOf(TypeError)
        .with.property('message')
        .that.matches(/^The password must be a string/)
    }
  })

  it('refuses an empty password', async () => {
    expect(await rejection(hashPassword('', cheapCost))).to.be.instanceOf(RangeError)
  })

  it('refuses a cost out of bounds', async () => {
    expect(await rejection(hashPassword('x', { ln: 40, r: 8, p: 1 }))).to.be.instanceOf(RangeError)
  })
})
