import { expect } from 'chai'
import { formatScryptHash, parseScryptHash } from '../src/compute-scrypt.ts'

const salt = 'bWpjn4uyJEdAi/dPWTWfuQ'
const hash = '3EHp8tuuceuO+0RvpNIYn8Lgzy7NBBIj26LjAY61dMg'

describe('parseScryptHash', () => {
  it('takes apart what formatScryptHash puts together', () => {
    const text = `$scrypt$ln=15,r=8,p=1$${salt}$${hash}`
    expect(parseScryptHash(text).cost).to.deep.equal({ ln: 15, r: 8, p: 1 })
    expect(formatScryptHash(parseScryptHash(text))).to.equal(text)
  })

  const refused: Record<string, readonly [string, string]> = {
    'no salt': [`$scrypt$ln=15,r=8,p=1$${hash}`, 'form'],
    'another order': [`$scrypt$r=8,ln=15,p=1$${salt}$${hash}`, 'form'],
    padding: [`$scrypt$ln=15,r=8,p=1$${salt}==$${hash}`, 'form'],
    'something behind': [`$scrypt$ln=15,r=8,p=1$${salt}$${hash}$`, 'form'],
    'a line break behind': [`$scrypt$ln=15,r=8,p=1$${salt}$${hash}\n`, 'form'],
    'a negative cost': [`$scrypt$ln=-1,r=8,p=1$${salt}$${hash}`, 'form'],
    'a cost of 0': [`$scrypt$ln=0,r=8,p=1$${salt}$${hash}`, 'at least 1'],
    'gigabytes of memory': [`$scrypt$ln=24,r=8,p=1$${salt}$${hash}`, '256 MiB'],
    'a vast ln': [`$scrypt$ln=999,r=8,p=1$${salt}$${hash}`, 'at most 24'],
    'a vast r': [`$scrypt$ln=4,r=999,p=1$${salt}$${hash}`, 'at most 64'],
    'minutes of work': [`$scrypt$ln=17,r=8,p=64$${salt}$${hash}`, 'sixteen times'],
    'what RFC 7914 forbids': [`$scrypt$ln=16,r=1,p=1$${salt}$${hash}`, 'below 16'],
    'a salt that is not canonical base64': [
      `$scrypt$ln=15,r=8,p=1$${salt.slice(0, -1)}R$${hash}`,
      'base64',
    ],
    'a short salt': [`$scrypt$ln=15,r=8,p=1$AAAA$${hash}`, 'salt of 3 bytes'],
    'a short hash': [`$scrypt$ln=15,r=8,p=1$${salt}$AAAA`, 'hash of 3 bytes'],
    'a long hash': [`$scrypt$ln=15,r=8,p=1$${salt}$${'A'.repeat(88)}`, 'hash of 66 bytes'],
  }
  for (const [what, [text, problem]] of Object.entries(refused)) {
    it(`refuses ${what}, without repeating the string`, () => {
      expect(() => parseScryptHash(text))
        .to.throw(RangeError, problem)
        .and.property('message')
        .not.include(hash)
    })
  }
})
