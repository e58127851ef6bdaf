import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { exchange } from '@holdfast/testing'
import { expect } from 'chai'
import {
  createAddressOf,
  networkOf,
  createOriginOf,
  warnOfUnreadableHeaders,
} from '../../src/guards/address-of.ts'
import { collectLog } from '../support/collected-log.ts'
import { customerRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

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

function request(
  headers: Readonly<Record<string, string>>,
  { remoteAddress = '10.0.0.1', isTls = false } = {},
): IncomingMessage {
  const rawHeaders = Object.entries(headers).flat()
  const socket = { remoteAddress, ...(isTls && { encrypted: true }) }
  return { headers, rawHeaders, socket } as unknown as IncomingMessage
}

const forwarded = {
  host: 'inner:3000',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'files.example.com',
  'x-forwarded-prefix': '/store',
}

describe('createOriginOf', () => {
  it('is made of the Host, with https where the connection has TLS', () => {
    const originOf = createOriginOf()
    expect(originOf(request({ host: 'a.example:8080' }))).to.equal('http://a.example:8080')
    expect(originOf(request({ host: '[::1]:1' }, { isTls: true }))).to.equal('https://[::1]:1')
    expect(originOf(request({}))).to.equal('')
  })

  it('believes trusted proxies only', () => {
    const originOf = createOriginOf(['10.0.0.0/8'])
    expect(originOf(request(forwarded))).to.equal('https://files.example.com/store')
    const stranger = request(forwarded, { remoteAddress: '192.0.2.1' })
    expect(originOf(stranger)).to.equal('http://inner:3000')
    expect(createOriginOf()(request(forwarded))).to.equal('http://inner:3000')
  })

  it('takes what the nearest proxy says', () => {
    const originOf = createOriginOf(['10.0.0.1'])
    const several = { ...forwarded, 'x-forwarded-proto': 'http, https' }
    expect(originOf(request(several))).to.equal('https://files.example.com/store')
  })

  it('passes over what cannot be a part of a URL', () => {
    const originOf = createOriginOf(['10.0.0.1'])
    for (const [header, value] of [
      ['x-forwarded-proto', 'javascript'],
      ['x-forwarded-host', 'evil.example/path'],
      ['x-forwarded-host', 'user@evil.example'],
      ['x-forwarded-host', '[::1'],
      ['x-forwarded-prefix', 'store'],
      ['x-forwarded-prefix', '//evil.example'],
      ['x-forwarded-prefix', '/a?b'],
      ['x-forwarded-prefix', '/store//'],
      ['x-forwarded-prefix', '//'],
    ] as const) {
      const { host } = forwarded
      expect(originOf(request({ host, [header]: value })), value).to.equal('http://inner:3000')
    }
  })

  it('takes the scheme in any case, and the prefix with or without a slash at its end', () => {
    const originOf = createOriginOf(['10.0.0.1'])
    const { host } = forwarded
    for (const [headers, origin] of [
      [{ 'x-forwarded-proto': 'HTTPS' }, 'https://inner:3000'],
      [{ 'x-forwarded-proto': 'Http' }, 'http://inner:3000'],
      [{ 'x-forwarded-prefix': '/files/' }, 'http://inner:3000/files'],
      [{ 'x-forwarded-prefix': '/a/b/' }, 'http://inner:3000/a/b'],
      [{ 'x-forwarded-prefix': '/' }, 'http://inner:3000'],
    ] as const) {
      expect(originOf(request({ host, ...headers })), JSON.stringify(headers)).to.equal(origin)
    }
  })

  it('reports what a proxy sends that it cannot read, and nothing else', () => {
    const reports: string[] = []
    const originOf = createOriginOf(['10.0.0.1'], (header, value) =>
      reports.push(`${header}: ${value}`),
    )
    originOf(request(forwarded))
    originOf(request({ host: 'inner:3000' }))
    originOf(request({ 'x-forwarded-proto': 'gopher' }, { remoteAddress: '192.0.2.1' }))
    expect(reports).to.deep.equal([])
    originOf(request({ ...forwarded, 'x-forwarded-proto': 'gopher', 'x-forwarded-prefix': 'a' }))
    expect(reports).to.deep.equal(['X-Forwarded-Proto: gopher', 'X-Forwarded-Prefix: a'])
  })
})

const message = 'A header of a trusted proxy cannot be read'

describe('warnOfUnreadableHeaders', () => {
  it('logs the first value of each header that cannot be read', () => {
    const log = collectLog()
    const warn = warnOfUnreadableHeaders(log)
    for (const value of ['unknown', '_hidden']) warn('X-Forwarded-For', value)
    warn('X-Forwarded-Proto', 'gopher')
    expect(log.lines).to.deep.equal([
      { level: 'warn', fields: { header: 'X-Forwarded-For', value: 'unknown' }, message },
      { level: 'warn', fields: { header: 'X-Forwarded-Proto', value: 'gopher' }, message },
    ])
  })

  it('logs no more than the beginning of a long value', () => {
    const log = collectLog()
    warnOfUnreadableHeaders(log)('X-Forwarded-For', 'x'.repeat(10_000))
    expect(log.lines[0]?.fields['value']).to.equal(`${'x'.repeat(100)}…`)
  })

  it('warns once for all requests of an application', async () => {
    await using app = await runApp({ trustedProxies: ['127.0.0.1'] })
    for (const entry of ['unknown', '1.2.3', '203.0.113.9:80']) {
      await exchange(app.port, customerRequest('GET', '/list', { 'X-Forwarded-For': entry }))
    }
    const warnings = app.log.lines.filter(({ level }) => level === 'warn')
    expect(warnings.map(({ fields }) => fields)).to.deep.equal([
      { header: 'X-Forwarded-For', value: 'unknown' },
    ])
  })

  it('warns once of a proxy that is not trusted', async () => {
    await using app = await runApp()
    for (const _time of [1, 2]) {
      await exchange(app.port, customerRequest('GET', '/list', { 'X-Forwarded-For': '1.2.3.4' }))
    }
    const warnings = app.log.lines.filter(({ level }) => level === 'warn')
    expect(warnings.map(({ fields }) => fields)).to.deep.equal([{ address: '127.0.0.1' }])
    expect(warnings[0]?.message).to.match(/^X-Forwarded-For of an untrusted peer is ignored/)
  })
})
