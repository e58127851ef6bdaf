import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { parseContentDigest } from '../../src/uploads/file-body.ts'
import { auth, runApp } from '../support/running-app.ts'

const of = (algorithm: string) => createHash(algorithm).update('content')
const sha256 = `sha-256=:${of('sha256').digest('base64')}:`
const sha512 = `sha-512=:${of('sha512').digest('base64')}:`

function check(header: string) {
  const digest = parseContentDigest(header)
  digest?.hash.update(Buffer.from('content'))
  return digest && { expected: digest.expected(), actual: digest.hash.digest('hex') }
}

const hex256 = of('sha256').digest('hex')
const hex512 = of('sha512').digest('hex')

const known: Readonly<Record<string, string>> = {
  [sha256]: hex256,
  [sha512]: hex512,
  [`${sha512}, ${sha256}`]: hex256,
  [`unixsum=:AAAA:,${sha256}`]: hex256,
  [`  ${sha256}  `]: hex256,
  [sha256.replace('sha', 'SHA')]: hex256,
}

const invalid = [
  'sha-256',
  'sha-256=',
  'sha-256=::',
  'sha-256=:YWJj:',
  sha256.replaceAll(':', ''),
  sha256.slice(0, -1),
  sha256.replace('sha-256=', 'sha-256 = '),
  sha256.replace('sha-256', 'sha-512'),
  `sha-256=:${hex256}:`,
  `sha-256="${hex256}"`,
  `${sha256}, sha-256=:YWJj:`,
]

describe('parseContentDigest', () => {
  for (const [header, hex] of Object.entries(known)) {
    it(`reads ${header.slice(0, 40)}`, () => {
      expect(check(header)).to.deep.equal({ expected: hex, actual: hex })
    })
  }
  it('asks for nothing without the header, or with unknown algorithms only', () => {
    expect(parseContentDigest(undefined)).to.equal(undefined)
    expect(parseContentDigest('')).to.equal(undefined)
    expect(parseContentDigest('md5=:AAAA:, sha=:AAAA:')).to.equal(undefined)
  })
  for (const header of invalid) {
    it(`refuses ${header.slice(0, 40)}`, () => {
      expect(() => parseContentDigest(header))
        .to.throw(/^Invalid Content-Digest: /)
        .with.property('status', 400)
    })
  }
})

describe('PUT with a Content-Digest after the body', () => {
  it('is refused, since nothing would be compared', async () => {
    await using app = await runApp()
    const headers = { ...auth, 'Transfer-Encoding': 'chunked', Trailer: 'Expires, content-digest' }
    const upload = request(`${app.url}/upload/a`, { method: 'PUT', headers })
    upload.addTrailers({ 'Content-Digest': sha256 })
    upload.end('other')
    const [response] = (await once(upload, 'response')) as [IncomingMessage]
    expect(await json(response)).to.deep.equal({
      statusCode: 400,
      error: 'Bad Request',
      message: 'Invalid Content-Digest: it must come before the body',
    })
    expect(await app.names()).to.deep.equal([])
  })
})
