import { expect } from 'chai'
import { createObjectKeys } from '../../src/keys/object-keys.ts'

describe('createObjectKeys', () => {
  it('puts the file below its customer, below the prefix', () => {
    expect(createObjectKeys('').keyOf({ customer: 'zoë', name: 'a b.txt' })).to.equal('zoë/a b.txt')
    const keys = createObjectKeys('team/files/')
    expect(keys.keyOf({ customer: 'zoë', name: '..\\x' })).to.equal('team/files/zoë/\u0001/--\\x')
    expect(keys.keyOf({ customer: '. ', name: 'x' })).to.equal('team/files/\u0001/-\u001f/x')
    expect(keys.customerPrefix('zoë')).to.equal('team/files/zoë/')
  })

  it('knows the keys that it makes', () => {
    const keys = createObjectKeys('p/')
    for (const customer of ['a', '. ']) {
      for (const name of ['b', '..\\x'])
        expect(keys.isKey(keys.keyOf({ customer, name }))).to.equal(true)
    }
  })

  for (const key of [
    ...['', 'p', 'p/', 'p/a', 'p/a/', 'p/a/b/', 'p/a/b/c', 'p//b', 'p/a//', 'q/a/b', 'a/b'],
    ...['p/a/\u0001/b', 'p/\u0001/a/b', 'p/a/\u0001/', 'p/a/..\\x', 'p/. /b', 'p/a/b\u0002'],
  ]) {
    it(`takes ${JSON.stringify(key)} for none of them`, () => {
      expect(createObjectKeys('p/').isKey(key)).to.equal(false)
    })
  }

  for (const prefix of [
    'p',
    'a/p',
    '/',
    '/p/',
    'p//',
    './',
    'a/../',
    'a\u0001/',
    `${'p'.repeat(256)}/`,
    'p/'.repeat(251),
  ]) {
    it(`refuses the prefix ${JSON.stringify(prefix.slice(0, 20))}`, () => {
      expect(() => createObjectKeys(prefix)).to.throw(RangeError)
    })
  }
})
