import { expect } from 'chai'
import { settings } from '../../src/config/settings.ts'

describe('settings', () => {
  for (const [text, value] of [
    ['0', 0],
    ['080', 80],
    ['65535', 65_535],
  ] as const) {
    it(`takes ${text} for a port`, () => {
      expect(settings.port.parse(text)).to.equal(value)
    })
  }

  for (const text of ['', '-1', '65536', '1e3', '0x10', '80 ', 'http', '3.5']) {
    it(`refuses "${text}" for a port`, () => {
      expect(() => settings.port.parse(text)).to.throw(RangeError, 'is not a port')
    })
  }

  it('knows the variable that Kubernetes sets for a service called holdfast', () => {
    expect(() => settings.port.parse('tcp://10.0.0.1:3000')).to.throw(
      RangeError,
      'enableServiceLinks: false',
    )
  })
})
