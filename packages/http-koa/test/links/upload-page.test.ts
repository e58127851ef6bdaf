import { createHmac } from 'node:crypto'
import { createFileService, createLinkBrake } from '@holdfast/core'
import {
  createMemoryBlobStore,
  createMemoryCredentialSource,
  createMemoryFailureCounter,
} from '@holdfast/core/memory'
import { expect } from 'chai'
import { createApp, type AnsweredRequest, type AuditEvent, type PageFile } from '../../src/index.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const file: PageFile = {
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-cache',
    'Referrer-Policy': 'no-referrer',
  },
  etags: { identity: '"a"', gzip: '"b"', br: '"c"' },
  contents: {
    identity: Buffer.from('<html><head></head></html>'),
    gzip: Buffer.from('never'),
    br: Buffer.from('never'),
  },
}

/** A server with links, whose page for strangers is nearly empty. */
async function start(customer = 'anna', web = true, maxRequests?: number) {
  const answered: AnsweredRequest[] = []
  const events: AuditEvent[] = []
  const service = createFileService({
    store: createMemoryBlobStore(),
    credentials: createMemoryCredentialSource([{ name: customer, passwordHash: 'sesame' }]),
    verifyPassword: async (password, hash) => password === hash,
    links: {
      createSignature: (key) => createHmac('sha256', key),
      brake: createLinkBrake({
        counter: createMemoryFailureCounter({ windowMs: 60_000 }),
        failuresPerAddress: 2,
      }),
    },
    maxFileSize: 1000,
  })
  const app = await listen(
    createHttpServer(
      createApp(service, {
        ...(web && { web: async () => new Map([['upload', file]]) }),
        ...(maxRequests !== undefined && { maxRequests }),
        onAnswered: (request) => void answered.push(request),
        audit: async (event) => void events.push(event),
      }),
    ),
  )
  const files = service.filesOf({ name: customer })
  const link = async (name: string, options = {}) => {
    const { token } = (await files.uploadLink?.(name, options)) ?? { token: '' }
    return `${app.url}/upload/${encodeURIComponent(name)}?link=${encodeURIComponent(token)}`
  }
  const fileLink = async (name: string) => {
    await files.upload(name, 'of anna')
    const { token } = (await files.link?.(name)) ?? { token: '' }
    return `${app.url}/serve/${name}?link=${encodeURIComponent(token)}`
  }
  const about = { app, link, fileLink, files, answered, events }
  return { ...about, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

/** What the page learns. */
function metaOf(body: string): Record<string, unknown> {
  const [, content = ''] = /<meta name="link" content="([^"]*)"><\/head>/u.exec(body) ?? []
  const text = content.replaceAll(/&#(\d+);/gu, (_, code) => String.fromCharCode(Number(code)))
  return JSON.parse(text) as Record<string, unknown>
}

describe('The page for those who have a link to upload', () => {
  it('is what a browser gets, with what the link allows', async () => {
    await using app = await start()
    const url = await app.link('in-', { isPrefix: true, maxFiles: 3, maxSize: 500 })
    const answer = await fetch(url, { headers: html })
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('cache-control')).to.equal('no-store')
    expect(answer.headers.get('referrer-policy')).to.equal('no-referrer')
    expect(answer.headers.get('vary')).to.equal('Accept')
    expect(answer.headers.get('etag')).to.equal(null)
    const { expires, ...terms } = metaOf(await answer.text())
    expect(terms).to.deep.equal({
      customer: 'anna',
      name: 'in-',
      isPrefix: true,
      maxFiles: 3,
      maxSize: 500,
      replace: false,
      isUsedUp: false,
    })
    expect(Date.parse(String(expires))).to.be.within(Date.now(), Date.now() + 3_601_000)
  })

  it('says of one name that it is for one file, no larger than the service allows', async () => {
    await using app = await start()
    const answer = await fetch(await app.link('batch', { replace: true }), { headers: html })
    const { expires: _, ...terms } = metaOf(await answer.text())
    const bounds = { isPrefix: false, maxFiles: 1, maxSize: 1000, replace: true, isUsedUp: false }
    expect(terms).to.deep.equal({ customer: 'anna', name: 'batch', ...bounds })
  })

  it('says that the link takes no more: its name is taken, or there are as many files as it allows', async () => {
    await using app = await start()
    const isUsedUp = async (url: string) =>
      metaOf(await (await fetch(url, { headers: html })).text())['isUsedUp']
    const put = async (url: string) =>
      expect((await fetch(url, { method: 'PUT', body: 'x' })).status).to.equal(200)
    const one = await app.link('a')
    const replacing = await app.link('a', { replace: true })
    const several = await app.link('in-', { isPrefix: true, maxFiles: 2 })
    for (const url of [one, replacing, several]) expect(await isUsedUp(url)).to.equal(false)
    await put(one)
    await put(several.replace('/in-', '/in-1'))
    expect(await Promise.all([one, replacing, several].map(isUsedUp))).to.deep.equal([
      true,
      false,
      false,
    ])
    await put(several.replace('/in-', '/in-2'))
    expect(await isUsedUp(several)).to.equal(true)
  })

  it('has names with any characters as text', async () => {
    const name = `"><script>alert('&')</script>$&$1`
    await using app = await start(name.replace('/', '|'))
    const answer = await fetch(await app.link(name.replace('/', '⁄')), { headers: html })
    const body = await answer.text()
    expect(body).to.not.include('<script')
    expect(metaOf(body)).to.include({
      customer: name.replace('/', '|'),
      name: name.replace('/', '⁄'),
    })
  })

  it('says that a link is refused, in the log and the audit trail, too', async () => {
    await using app = await start()
    const url = (await app.link('a')).replace(/.$/u, (last) => (last === '0' ? '1' : '0'))
    for (const status of [403, 403, 429]) {
      const answer = await fetch(url, { headers: html })
      expect(answer.status).to.equal(status)
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8')
      expect(answer.headers.has('retry-after')).to.equal(status === 429)
      const refused = status === 403 ? 'link-refused' : 'too-many-attempts'
      expect(metaOf(await answer.text())).to.deep.equal({ refused })
    }
    expect(app.answered.map(({ code, path }) => [code, path])).to.deep.equal([
      ['link-refused', '/upload/a'],
      ['link-refused', '/upload/a'],
      ['too-many-attempts', '/upload/a'],
    ])
    expect(app.events[0]).to.include({ event: 'upload', outcome: 'refused', isByLink: true })
    expect(JSON.stringify([app.answered, app.events])).to.not.include(url.slice(-64))
  })

  it('says that the server is busy where no slot is free', async () => {
    await using app = await start('anna', true, 0)
    const answer = await fetch(await app.link('a'), { headers: html })
    expect(answer.status).to.equal(503)
    expect(answer.headers.has('retry-after')).to.equal(true)
    expect(metaOf(await answer.text())).to.deep.equal({ refused: 'overloaded' })
  })

  it('is for browsers with a link alone: others get what they got', async () => {
    await using app = await start()
    const url = await app.link('a')
    for (const accept of ['*/*', 'application/json', 'text/html;q=0']) {
      const answer = await fetch(url, { headers: { accept } })
      expect(answer.status, accept).to.equal(405)
      expect(answer.headers.get('allow')).to.equal('PUT, POST, OPTIONS')
    }
    const bare = await fetch(`${app.app.url}/upload/a`, { headers: html })
    expect([bare.status, bare.headers.get('allow')]).to.deep.equal([405, 'PUT, OPTIONS'])
  })

  it('is not there where there is no page', async () => {
    await using app = await start('anna', false)
    const answer = await fetch(await app.link('a'), { headers: html })
    expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'PUT, POST, OPTIONS'])
  })

  it('says so to a person who opens a link to a file that is refused or gone, and to no program', async () => {
    await using app = await start()
    const url = await app.fileLink('a')
    const person = { ...html, 'sec-fetch-dest': 'document' }
    expect(await (await fetch(url, { headers: person })).text()).to.equal('of anna')
    await app.files.delete('a')
    const wrong = url.replace(/.$/u, (last) => (last === '0' ? '1' : '0'))
    for (const [address, status, refused] of [
      [url, 400, 'not-found'],
      [wrong, 403, 'link-refused'],
      [wrong, 403, 'link-refused'],
      [wrong, 429, 'too-many-attempts'],
    ] as const) {
      const answer = await fetch(address, { headers: person })
      expect(answer.status).to.equal(status)
      expect(answer.headers.get('vary')).to.equal('Sec-Fetch-Dest')
      expect(answer.headers.get('cache-control')).to.equal('no-store')
      expect(answer.headers.has('retry-after')).to.equal(status === 429)
      expect(metaOf(await answer.text())).to.deep.equal({ refused })
    }
    for (const headers of [html, { 'sec-fetch-dest': 'image' }, { 'sec-fetch-dest': 'empty' }]) {
      const answer = await fetch(url, { headers })
      expect(await answer.json()).to.include({ statusCode: 429 })
    }
    const head = await fetch(wrong, { headers: person, method: 'HEAD' })
    expect(head.headers.get('content-type')).to.equal('application/json; charset=utf-8')
    const noLink = await fetch(`${app.app.url}/serve/a`, { headers: person })
    expect(await noLink.json()).to.include({ message: 'No auth headers' })
    expect(app.answered.map(({ code }) => code)).to.include.members(['not-found', 'link-refused'])
    expect(app.events.map(({ outcome }) => outcome)).to.include.members(['ok', 'refused'])
  })

  it('describes the file of a link to a browser that asks for a page, and gives all others the file', async () => {
    await using app = await start()
    const url = await app.fileLink('a')
    const address = `${url}&page=1`
    const answer = await fetch(address, { headers: html })
    expect(answer.status).to.equal(200)
    expect(answer.headers.get('vary')).to.equal('Accept')
    expect(answer.headers.get('cache-control')).to.equal('no-store')
    const { customer, file: described } = metaOf(await answer.text())
    expect(customer).to.equal('anna')
    expect(described).to.include({ name: 'a', size: 7, type: 'application/octet-stream' })
    // To look at the page is no download.
    expect(app.events.filter(({ event }) => event === 'download')).to.deep.equal([])
    for (const [other, init] of [
      [address, {}],
      [address, { headers: { accept: '*/*' } }],
      [address, { headers: { accept: 'text/html;q=0, */*' } }],
      [url, { headers: html }],
    ] as const) {
      expect(await (await fetch(other, init)).text(), other).to.equal('of anna')
    }
    const range = await fetch(address, { headers: { range: 'bytes=3-' } })
    expect([range.status, await range.text()]).to.deep.equal([206, 'anna'])
    const head = await fetch(address, { headers: html, method: 'HEAD' })
    expect(head.headers.get('content-length')).to.equal('7')
    expect(head.headers.get('content-disposition')).to.include('attachment')
  })

  it('says so in place of the file where the link is refused, or its file is gone', async () => {
    await using app = await start()
    const address = `${await app.fileLink('a')}&page=1`
    const wrong = address.replace(/.(?=&page)/u, (last) => (last === '0' ? '1' : '0'))
    const refused = await fetch(wrong, { headers: html })
    expect([refused.status, metaOf(await refused.text())]).to.deep.equal([
      403,
      { refused: 'link-refused' },
    ])
    await app.files.delete('a')
    const gone = await fetch(address, { headers: html })
    expect([gone.status, metaOf(await gone.text())]).to.deep.equal([400, { refused: 'not-found' }])
    const noLink = await fetch(`${app.app.url}/serve/a?page=1`, { headers: html })
    expect(await noLink.json()).to.include({ message: 'No auth headers' })
  })

  it('answers HEAD without content', async () => {
    await using app = await start()
    const answer = await fetch(await app.link('a'), { headers: html, method: 'HEAD' })
    expect([answer.status, await answer.text()]).to.deep.equal([200, ''])
  })
})
