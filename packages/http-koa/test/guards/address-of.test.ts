import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { createAddressOf } from '../../src/guards/address-of.ts'

/** A request from `remoteAddress`, with these X-Forwarded-For headers. */
function requestFrom(remoteAddress: string | undefined, ...forwarded: string[]): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  const request = new IncomingMessage(socket)
  for (const value of forwarded) request.rawHeaders.push('X-Forwarded-For', value)
  if (forwarded.length > 0) request.headers = { 'x-forwarded-for': forwarded.join(', ') }
  return request
}

const proxies = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8']

describe('createAddressOf', () => {
  const cases: readonly (readonly [
    title: string,
    address: string,
    remote: string | undefined,
    ...forwarded: string[],
  ])[] = [
    ['the other end, without the header', '10.0.0.7', '10.0.0.7'],
    ['the other end, if that is no proxy', '192.0.2.1', '192.0.2.1', '203.0.113.9'],
    ['what a proxy saw', '203.0.113.9', '10.0.0.7', '203.0.113.9'],
    ['what the outermost proxy saw', '203.0.113.9', '127.0.0.1', '203.0.113.9, 10.1.2.3'],
    ['nothing that a client invented', '203.0.113.9', '10.0.0.7', '1.1.1.1, 203.0.113.9'],
    [
      'nothing invented in a header of its own',
      '203.0.113.9',
      '10.0.0.7',
      '1.1.1.1',
      '203.0.113.9',
    ],
    ['the innermost proxy, if that wrote no address', '10.0.0.7', '10.0.0.7', '1.1.1.1, unknown'],
    ['the last proxy, if all are proxies', '10.3.3.3', '10.0.0.7', '10.3.3.3, 10.2.2.2'],
    ['IPv6, from a proxy with IPv6', '2001:db8::1', 'fd00::1', '2001:db8::1'],
    ['IPv4 in IPv6 as IPv4', '203.0.113.9', '::ffff:10.0.0.7', '::ffff:203.0.113.9'],
    ['nothing where the connection is gone', '', undefined, '203.0.113.9'],
    ['IPv4 with a port', '198.51.100.5', '10.0.0.7', '198.51.100.5:40001'],
    ['IPv6 with a port', '2001:db8::7', '10.0.0.7', '[2001:db8::7]:443'],
    ['IPv6 in brackets', '2001:db8::7', '10.0.0.7', '[2001:db8::7]'],
    ['IPv4 in IPv6 with a port as IPv4', '203.0.113.9', 'fd00::1', '[::ffff:203.0.113.9]:443'],
    [
      'what proxies saw that write ports',
      '203.0.113.9',
      '127.0.0.1',
      '1.1.1.1, 203.0.113.9:40001, [fd00::7]:443, 10.1.2.3:80',
    ],
  ]
  for (const [title, address, remote, ...forwarded] of cases) {
    it(`gives ${title}`, () => {
      expect(createAddressOf(proxies)(requestFrom(remote, ...forwarded))).to.equal(address)
    })
  }

  for (const garbage of [
    '',
    ',',
    ' , ,, ',
    '203.0.113.9:',
    '203.0.113.9:port',
    '203.0.113.9:4711:1',
    '[203.0.113.9]:4711',
    '[2001:db8::1',
    '2001:db8::1]',
    '[2001:db8::1]443',
    '[[2001:db8::1]]',
    '[]',
    '203.0.113.256',
    '0xcb.0.113.9',
    '203.0.113.9 203.0.113.8',
    '203.0.113.9;x',
    'for=203.0.113.9',
    '1'.repeat(10_000),
    '::ffff:',
  ]) {
    it(`takes ${JSON.stringify(garbage.slice(0, 30))} from a proxy for no address`, () => {
      expect(createAddressOf(proxies)(requestFrom('10.0.0.7', garbage))).to.equal('10.0.0.7')
      const behind = requestFrom('10.0.0.7', `1.1.1.1, ${garbage}`, '10.1.2.3')
      expect(createAddressOf(proxies)(behind)).to.equal('10.1.2.3')
    })
  }

  it('sees through ten thousand hops and headers, up to the last that is no proxy', () => {
    const hops = Array.from({ length: 10_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
    const addressOf = createAddressOf(proxies)
    const list = requestFrom('10.0.0.7', '1.1.1.1', '203.0.113.9', hops.join(','))
    expect(addressOf(list)).to.equal('203.0.113.9')
    expect(addressOf(requestFrom('10.0.0.7', '1.1.1.1', '203.0.113.9', ...hops))).to.equal(
      '203.0.113.9',
    )
    expect(addressOf(requestFrom('192.0.2.1', ...hops))).to.equal('192.0.2.1')
  })

  it('reports each entry of a proxy that it cannot read, and nothing else', () => {
    const reports: string[] = []
    const addressOf = createAddressOf(proxies, (header, value) =>
      reports.push(`${header}: ${value}`),
    )
    addressOf(requestFrom('10.0.0.7'))
    addressOf(requestFrom('10.0.0.7', '203.0.113.9:1'))
    addressOf(requestFrom('10.0.0.7', '10.0.0.8'))
    addressOf(requestFrom('10.0.0.7', 'nonsense, 203.0.113.9'))
    addressOf(requestFrom('192.0.2.1', 'unknown'))
    expect(reports).to.deep.equal([])
    addressOf(requestFrom('10.0.0.7', '203.0.113.9, unknown'))
    expect(reports).to.deep.equal(['X-Forwarded-For: unknown'])
  })

  it('reports the first address that sends the header and is no proxy', () => {
    for (const trusted of [[], proxies]) {
      const reports: string[] = []
      const report = (address: string) => reports.push(address)
      const addressOf = createAddressOf(trusted, () => {}, report)
      addressOf(requestFrom('192.0.2.1'))
      if (trusted.length > 0) addressOf(requestFrom('10.0.0.7', '203.0.113.9'))
      expect(reports).to.deep.equal([])
      addressOf(requestFrom('192.0.2.2', '203.0.113.9'))
      addressOf(requestFrom('192.0.2.3', '203.0.113.9'))
      expect(reports).to.deep.equal(['192.0.2.2'])
    }
  })

  it('believes no proxy by default', () => {
    expect(createAddressOf()(requestFrom('127.0.0.1', '203.0.113.9'))).to.equal('127.0.0.1')
  })

  for (const wrong of [
    '',
    'proxy',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fd00::/129',
  ]) {
    it(`refuses ${JSON.stringify(wrong)} as a proxy`, () => {
      expect(() => createAddressOf([wrong])).to.throw(RangeError, `"${wrong}" is not an address`)
    })
  }
})
