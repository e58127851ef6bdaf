import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { Webhook } from 'standardwebhooks'
import { createEventPoster, isPublic, signedHeaders } from '../../src/events/post-event.ts'
import { refuse, type Receiver, secret, startReceiver } from './receiver.ts'

const event = { id: 'id', timeMs: 0, body: '{"specversion":"1.0","id":"id","file":"ä€"}' }
const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`

describe('createEventPoster', () => {
  let receiver: Receiver
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())

  const post = async (url: string, { secrets = [secret], allowPrivate = true } = {}) => {
    const poster = createEventPoster({ url, allowPrivate, secrets: () => secrets })
    try {
      return await poster.post(event)
    } finally {
      poster.close()
    }
  }

  it('signs by each secret, so that a receiver may have either', async () => {
    const secrets = [other, secret]
    expect(await post(receiver.url, { secrets })).to.deep.equal({ outcome: 'accepted' })
    const changed = await startReceiver(undefined, { key: other })
    expect(await post(changed.url, { secrets })).to.deep.equal({ outcome: 'accepted' })
    await changed.close()
  })

  it('sends several events on one connection', async () => {
    let connections = 0
    const server = createServer((request, response) => {
      request.resume()
      response.end('ok')
    })
    server.on('connection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    const poster = createEventPoster({ url, allowPrivate: true, secrets: () => [secret] })
    for (let count = 0; count < 5; count++) {
      expect(await poster.post(event)).to.deep.equal({ outcome: 'accepted' })
    }
    poster.close()
    server.close()
    expect(connections).to.equal(1)
  })

  it('takes the status of an answer that never ends, or is long, and sends the next event', async () => {
    for (const body of ['x', 'x'.repeat(1_000_000)]) {
      receiver.behave((response) => void response.writeHead(200).write(body))
      const poster = createEventPoster({
        url: receiver.url,
        allowPrivate: true,
        secrets: () => [secret],
      })
      expect(await poster.post(event)).to.deep.equal({ outcome: 'accepted' })
      expect(await poster.post(event)).to.deep.equal({ outcome: 'accepted' })
      poster.close()
    }
  })

  it('does not follow a redirect', async () => {
    const target = await startReceiver()
    receiver.behave(refuse(302, { location: target.url }))
    expect(await post(receiver.url)).to.deep.equal({ outcome: 'failed', reason: 'status 302' })
    expect(target.arrivals).to.have.length(0)
    await target.close()
  })

  for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
    it(`does not connect to ${host} unless that is allowed`, async () => {
      const result = await post(`http://${host}:${receiver.port}/`, { allowPrivate: false })
      expect(result).to.have.property('outcome', 'failed')
      expect(result)
        .to.have.property('reason')
        .that.matches(/which is not public/)
      expect(receiver.arrivals).to.have.length(0)
    })
  }

  it('sends nothing when the signal has aborted already', async () => {
    const { url } = receiver
    const poster = createEventPoster({ url, allowPrivate: true, secrets: () => [secret] })
    const result = await poster.post(event, AbortSignal.abort())
    poster.close()
    expect(result).to.have.property('outcome', 'failed')
    expect(receiver.arrivals).to.have.length(0)
  })

  it('says why there is no connection', async () => {
    expect(await post('http://127.0.0.1:1/')).to.deep.include({
      outcome: 'failed',
      reason: 'connect ECONNREFUSED 127.0.0.1:1',
    })
  })
})

describe('isPublic', () => {
  for (const address of ['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8']) {
    it(`holds for ${address}`, () => expect(isPublic(address)).to.equal(true))
  }
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.1.1.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fc00::1',
    'fe80::1',
    'ff02::1',
  ]) {
    it(`does not hold for ${address}`, () => expect(isPublic(address)).to.equal(false))
  }
})

describe('signedHeaders', () => {
  it('has the seconds of the attempt and the length in bytes, and is verified', () => {
    const now = new Date()
    const headers = signedHeaders(event, [secret], now)
    expect(headers).to.include({
      'webhook-id': 'id',
      'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
      'content-length': `${Buffer.byteLength(event.body)}`,
    })
    expect(new Webhook(secret).verify(event.body, headers)).to.include({ id: 'id' })
  })
})
