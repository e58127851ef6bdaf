import { expect } from 'chai'
import { networkOf } from '../../src/guards/address-of.ts'

describe('networkOf', () => {
  for (const [address, network] of [
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:0:0:0:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['fe80::1', 'fe80::1'],
    ['fe80::2%eth0', 'fe80::2%eth0'],
    ['', ''],
    ['unknown', 'unknown'],
  ] as const) {
    it(`makes of ${JSON.stringify(address)} ${JSON.stringify(network)}`, () => {
      expect(networkOf(address)).to.equal(network)
    })
  }
})
