// It sends 64 MiB through each proxy.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { describeWithMinio } from '@holdfast/testing/minio'
import { credentials, until, type HoldfastServer } from '@holdfast/testing'
import { expect } from 'chai'
import { createClient, type Answer, type Client } from './support/client.ts'
import { contentOf, digestOf } from './support/content.ts'
import { startHouse, type House } from './support/start-house.ts'
import type { ProxyKind } from './support/start-proxy.ts'
import { unfinishedUploads } from './support/unfinished-uploads.ts'

const MiB = 1024 ** 2
const wrong = { ...credentials, 'x-auth-password': 'wrong' }

/** What differs. */
const expectations = [
  { proxy: 'nginx', file: 'nginx.conf', asksBefore100: false },
  { proxy: 'haproxy', file: 'haproxy.cfg', asksBefore100: true },
] as const satisfies { proxy: ProxyKind; file: string; asksBefore100: boolean }[]

for (const { proxy, file, asksBefore100 } of expectations) {
  describeWithMinio(`docs/deploy/${file}`, (minio) => {
    let bucket: string
    let house: House
    let client: Client

    before(async () => {
      bucket = await minio().createBucket()
      // One MinIO that stands for four.
      const endpoints = Array.from({ length: 4 }, () => minio().endpoint)
      house = await startHouse({ ...minio(), proxy, endpoints, bucket })
      client = createClient(house.proxy, credentials)
    })

    after(async () => {
      client.close()
      await house.stop()
    })

    it('passes 64 MiB up and down, whole', async function () {
      this.timeout(60_000)
      const pieces = function* () {
        for (let index = 0; index < 64; index++) yield contentOf(`piece ${index}`, MiB)
      }
      const hash = createHash('sha256')
      for (const piece of pieces()) hash.update(piece)
      const upload = await client.ask('/upload/big.bin', { method: 'PUT', body: pieces() })
      expect(upload).to.include({ status: 200, text: 'OK' })
      const { size, digest } = await client.ask('/serve/big.bin')
      expect({ size, digest }).to.deep.equal({ size: 64 * MiB, digest: hash.digest('hex') })
    })

    it('passes an upload on as it comes, and nothing of it is seen when the client leaves', async () => {
      const leave = new AbortController()
      const body = async function* () {
        yield contentOf('left', 20 * MiB)
        await delay(60_000, undefined, { signal: leave.signal })
      }
      const gone = client
        .ask('/upload/left.bin', { method: 'PUT', body: body() })
        .catch((error: unknown) => error)
      const unfinished = () => unfinishedUploads(minio(), bucket, 'demo/left.bin')
      await until('the first parts are in MinIO', async () => (await unfinished()).length === 1)
      leave.abort()
      expect(await gone).to.be.an('error')
      await until('they are removed', async () => (await unfinished()).length === 0)
      expect((await client.ask('/serve/left.bin')).text).to.include('File not found')
    })

    it('keeps names as they are', async () => {
      const names = ['Käse & Öl.txt', 'a%2Fb', '100% #1?.txt', 'a\\..\\b', '.. ']
      for (const name of names) {
        const path = encodeURIComponent(name)
        const put = await client.ask(`/upload/${path}`, { method: 'PUT', body: Buffer.from(name) })
        expect(put).to.include({ status: 200, text: 'OK' })
        expect(await client.ask(`/serve/${path}`)).to.include({ status: 200, text: name })
      }
      const list = await client.ask('/list')
      expect(JSON.parse(list.text)).to.include.members(names)
    })

    it('leaves answers as holdfast gives them', async () => {
      await client.ask('/upload/a.txt', { method: 'PUT', body: Buffer.from('0123456789') })
      const { etag = '' } = (await client.ask('/serve/a.txt')).headers
      const questions = [
        ['/serve/a.txt', { headers: { range: 'bytes=2-5' } }, 206],
        ['/serve/a.txt', { headers: { range: 'bytes=10-' } }, 416],
        ['/serve/a.txt', { headers: { 'if-none-match': etag } }, 304],
        ['/serve/a.txt', { method: 'HEAD' }, 200],
        ['/upload/a.txt', { method: 'PUT', headers: { 'if-none-match': '*' } }, 412],
        ['/upload/a%2Fb', { method: 'PUT' }, 400],
        ['/serve/a%2Fb', {}, 400],
        ['/serve/none', {}, 400],
        ['/nowhere', {}, 404],
        ['/list', { method: 'POST' }, 405],
        ['/upload', { method: 'OPTIONS' }, 204],
        ['/list', { headers: wrong }, 400],
      ] as const
      for (const [path, question, status] of questions) {
        const direct = await fetch(`${house.servers[0]?.url}${path}`, {
          ...question,
          headers: { ...credentials, ...('headers' in question && question.headers) },
        })
        const through = await client.ask(path, question)
        expect(through.status).to.equal(status).and.to.equal(direct.status)
        expect(through.text).to.equal(await direct.text())
        expect(told(through.headers)).to.deep.equal(told(Object.fromEntries(direct.headers)))
      }
    })

    it('makes links that lead through it, whatever the client says, and logs no token', async () => {
      await client.ask('/upload/linked.txt', { method: 'PUT', body: Buffer.from('by a link') })
      const answer = await client.ask('/link/linked.txt', {
        method: 'POST',
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-prefix': '/evil' },
      })
      const { url } = JSON.parse(answer.text) as { url: string }
      expect(url.startsWith(`${house.proxy.url}/serve/linked.txt?link=`), url).to.equal(true)
      const { pathname, search } = new URL(url)
      const stranger = createClient(house.proxy, {})
      expect(await stranger.ask(pathname + search)).to.include({ status: 200, text: 'by a link' })
      stranger.close()
      const log = () => house.proxy.log()
      await until('the proxy has logged it', async () =>
        (await log()).includes('GET /serve/linked'),
      )
      expect(await log()).not.to.include('link=')
    })

    it('lets clients read why an upload is refused that they are still sending', async () => {
      const question = { method: 'PUT', headers: wrong, body: contentOf('refused', 40 * MiB) }
      const { status, text } = await client.ask('/upload/refused.bin', question)
      expect({ status, text }).to.deep.equal({
        status: 400,
        text: '{"statusCode":400,"error":"Bad Request","message":"Invalid credentials"}',
      })
    })

    it('answers clients that expect 100 Continue', async () => {
      expect(await askFirst(house, credentials)).to.deep.equal({ status: 200, continues: true })
      expect(await askFirst(house, wrong)).to.deep.equal({
        status: 400,
        continues: !asksBefore100,
      })
    })

    it('lets holdfast distinguish its clients, for the brake on bad logins and in the log', async function () {
      this.timeout(60_000)
      const from = async (localAddress: string, headers = {}) => {
        const { status } = await client.ask('/list', { localAddress, headers })
        return status
      }
      const attacker = '127.0.0.2'
      // Each server counts for itself, and the proxy may choose one several times in a row.
      const isBraked = (server: HoldfastServer) =>
        server.lines().some(({ address, status }) => address === attacker && status === 429)
      for (let tries = 0; tries < 300 && !house.servers.every(isBraked); tries++) {
        await from(attacker, wrong)
      }
      for (let times = 0; times < 6; times++) {
        expect(await from(attacker)).to.equal(429)
        expect(await from('127.0.0.3')).to.equal(200)
      }
      for (const server of house.servers) {
        const addresses = server.lines().map(({ address }) => address)
        expect(addresses).to.include.members([attacker, '127.0.0.3'])
      }
    })

    it('sends clients to the other servers when one is gone, and says when all are', async function () {
      this.timeout(60_000)
      const list = async () => (await client.ask('/list', { localAddress: '127.0.0.4' })).status
      const [first] = house.servers
      first?.signal('SIGSTOP')
      // Some come to the one that stands still, which has not answered when it ends.
      const waiting = Array.from({ length: 6 }, list)
      await delay(200)
      await first?.kill()
      expect(await Promise.all(waiting)).to.deep.equal(Array(6).fill(200))
      for (let times = 0; times < 12; times++) expect(await list()).to.equal(200)
      await Promise.all(house.servers.map((server) => server.kill()))
      const { status, headers, text }: Answer = await client.ask('/list')
      expect(status).to.equal(503)
      expect(headers['content-type']).to.equal('application/json')
      expect(JSON.parse(text)).to.deep.equal({
        statusCode: 503,
        error: 'Service Unavailable',
        message: 'No server answers',
      })
    })
  })
}

/** What of the headers is the answer's, and not the connection's or the request's. */
function told(headers: object): object {
  const names = /^(content-|etag|last-modified|accept-ranges|cache-control|allow)/
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)))
}

/** An upload that waits for 100 Continue before it sends. */
async function askFirst({ proxy }: House, customer: Record<string, string>) {
  let continues = false
  const body = contentOf('expected', 1000)
  const headers = { ...customer, expect: '100-continue', 'content-length': body.length }
  const options = { method: 'PUT', ca: proxy.certificate, headers, agent: false }
  const outgoing = request(`${proxy.url}/upload/${digestOf(body)}`, options)
  outgoing.on('error', () => {})
  outgoing.once('continue', () => {
    continues = true
    outgoing.end(body)
  })
  outgoing.flushHeaders()
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  const [{ statusCode: status }] = await answered
  outgoing.destroy()
  return { status, continues }
}
