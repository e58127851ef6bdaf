import { expect } from 'chai'
import { isLoopbackHost } from '../../src/setup/setting-values.ts'

describe('isLoopbackHost', () => {
  const own = [
    'localhost',
    'LOCALHOST',
    'a.localhost',
    '127.0.0.1',
    '127.255.0.7',
    '127.1',
    '[::1]',
  ]
  const others = [
    '127.evil.example.com',
    '127.0.0.1.example.com',
    'localhost.example.com',
    'notlocalhost',
    '128.0.0.1',
    '0.0.0.0',
    '10.127.0.0',
    '[::2]',
    '[::ffff:10.0.0.1]',
  ]
  for (const host of own) {
    it(`holds for ${host}`, () =>
      expect(isLoopbackHost(new URL(`http://${host}/`).hostname)).to.equal(true))
  }
  for (const host of others) {
    it(`does not hold for ${host}`, () =>
      expect(isLoopbackHost(new URL(`http://${host}/`).hostname)).to.equal(false))
  }
})
