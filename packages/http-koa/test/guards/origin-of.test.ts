import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { createOriginOf } from '../../src/guards/address-of.ts'

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
