import { createHmac, scryptSync } from 'node:crypto'
import { cheapCost } from '@holdfast/testing'
import { expect } from 'chai'
import { linkKeyOfHash, linkKeyOfPassword } from '../src/hash-password.ts'
import { standardScryptCost } from '../src/compute-scrypt.ts'

const hex = (key: Uint8Array | undefined) => key && Buffer.from(key).toString('hex')

describe('linkKeyOfHash', () => {
  it('is 32 bytes, the same again, and another for each customer and each hash', () => {
    const keys = ['a', 'b'].flatMap((name) =>
      ['h', 'i'].map((hash) => hex(linkKeyOfHash(name, hash))),
    )
    expect(new Set(keys)).to.have.property('size', 4)
    expect(keys[0]).to.match(/^[0-9a-f]{64}$/u)
    expect(hex(linkKeyOfHash('a', 'h'))).to.equal(keys[0])
  })

  it('stays what it is in later versions, since links live longer than processes', () => {
    // HKDF as RFC 5869 has it, with one block.
    const pseudorandom = createHmac('sha256', Buffer.alloc(32)).update('h').digest()
    const name = Buffer.from(
      'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
      'hex',
    )
    const info = Buffer.concat([Buffer.from('holdfast link key 1'), name, Buffer.of(1)])
    const expected = createHmac('sha256', pseudorandom).update(info).digest('hex')
    expect(hex(linkKeyOfHash('a', 'h'))).to.equal(expected)
  })

  it('takes names of every length, and gives none for a customer without a hash', () => {
    expect(linkKeyOfHash('x'.repeat(100_000), 'h')).to.have.length(32)
    expect(linkKeyOfHash('a', undefined)).to.equal(undefined)
  })
})

describe('linkKeyOfPassword', () => {
  it('is the same on every server, and another for each customer and password', async () => {
    const keys = await Promise.all(
      [
        ['a', 'p'],
        ['a', 'q'],
        ['b', 'p'],
        ['a', 'p'],
      ].map(([name = '', password = '']) => linkKeyOfPassword(name, password, cheapCost)),
    )
    const [first, second, third, again] = keys.map(hex)
    expect(new Set([first, second, third])).to.have.property('size', 3)
    expect(again).to.equal(first)
    expect(first).to.match(/^[0-9a-f]{64}$/u)
  })

  it('is scrypt at the cost of new hashes, so that a guess by a link costs what a guess by a hash does', async () => {
    const { ln, r, p } = standardScryptCost
    const options = { N: 2 ** ln, r, p, maxmem: 64 * 1024 ** 2 }
    const expected = scryptSync('correct horse', 'holdfast link key 1 a', 32, options)
    expect(hex(await linkKeyOfPassword('a', 'correct horse'))).to.equal(hex(expected))
  })
})
