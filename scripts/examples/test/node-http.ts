import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { statusOf } from './curl.ts'
import { startExample, type RunningExample } from './run-example.ts'
import { breakOff, expectNoFiles, filesIn } from './uploads.ts'

const largest = 48 * 2 ** 20

interface Asking {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer<ArrayBuffer>
}

describe('examples/node-http', function () {
  this.timeout(120_000)
  let app: RunningExample
  before(async () => {
    app = await startExample('node-http', { MAX_FILE_SIZE: `${largest}` })
  })
  after(async () => {
    expect(await app.stop()).to.equal(0)
  })

  const alice = { Authorization: 'Bearer wonderland' }
  const bob = { Authorization: 'Bearer builder' }
  const ask = (method: string, path: string, { headers = {}, body }: Asking = {}) =>
    fetch(`${app.url}${path}`, {
      method,
      headers: { ...alice, ...headers },
      ...(body !== undefined && { body }),
    })
  const put = async (name: string, body: NonNullable<Asking['body']>, headers = {}) =>
    (await ask('PUT', `/files/${encodeURIComponent(name)}`, { body, headers })).status
  const names = async (query = '', headers = alice) =>
    (await ask('GET', `/files${query}`, { headers })).json()
  const remove = (name: string) => ask('DELETE', `/files/${encodeURIComponent(name)}`)

  it('keeps files of any name, lists them in pages, and deletes them', async () => {
    for (const name of ['b', 'a b', 'Übersicht €']) expect(await put(name, name)).to.equal(201)
    expect(await names()).to.deep.equal(['a b', 'b', 'Übersicht €'])
    expect(await names('?after=b')).to.deep.equal(['Übersicht €'])
    for (const name of ['b', 'a b', 'Übersicht €']) {
      const served = await ask('GET', `/files/${encodeURIComponent(name)}`)
      expect(await served.text()).to.equal(name)
      expect((await remove(name)).status).to.equal(204)
    }
    await expectNoFiles(app.data)
  })

  it('serves parts of a file, and its head', async () => {
    await put('digits', '0123456789')
    for (const [range, status, text, part] of [
      ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-1', 206, '9', 'bytes 9-9/10'],
      ['bytes=4-2', 200, '0123456789', null],
      ['lines=1-2', 200, '0123456789', null],
    ] as const) {
      const served = await ask('GET', '/files/digits', { headers: { Range: range } })
      expect([served.status, await served.text()], range).to.deep.equal([status, text])
      expect(served.headers.get('content-range')).to.equal(part)
    }
    const behind = await ask('GET', '/files/digits', { headers: { Range: 'bytes=10-' } })
    expect([behind.status, behind.headers.get('content-range')]).to.deep.equal([416, 'bytes */10'])
    await put('empty', '')
    const whole = await ask('GET', '/files/empty', { headers: { Range: 'bytes=0-' } })
    expect([whole.status, await whole.text()]).to.deep.equal([200, ''])
    await remove('empty')
    const head = await ask('HEAD', '/files/digits')
    expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '10'])
    await remove('digits')
  })

  it('says each refusal as a status', async () => {
    expect(await put('once', 'first', { 'If-None-Match': '*' })).to.equal(201)
    expect(await put('once', 'second', { 'If-None-Match': '*' })).to.equal(412)
    expect(await (await ask('GET', '/files/once')).text()).to.equal('first')
    await remove('once')
    expect(await put('..%2f', 'content')).to.equal(201)
    await remove('..%2f')
    expect(await put('a/b', 'content')).to.equal(400)
    const statuses = [
      await ask('GET', '/files/missing'),
      await ask('DELETE', '/files/missing'),
      await ask('GET', '/files/%ZZ'),
      await ask('GET', '/elsewhere'),
      await ask('POST', '/files/a'),
    ].map(({ status }) => status)
    expect(statuses).to.deep.equal([404, 404, 400, 404, 405])
    await expectNoFiles(app.data)
  })

  it('shows users their own files only, and strangers nothing', async () => {
    await put('mine', 'content')
    expect(await names('', bob)).to.deep.equal([])
    expect((await ask('GET', '/files/mine', { headers: bob })).status).to.equal(404)
    expect((await ask('DELETE', '/files/mine', { headers: bob })).status).to.equal(404)
    const stranger = { Authorization: 'Bearer looking-glass' }
    expect((await ask('GET', '/files', { headers: stranger })).status).to.equal(401)
    expect(await put('a', 'content', stranger)).to.equal(401)
    expect(await filesIn(app.data)).to.deep.equal(['alice/mine'])
    await remove('mine')
  })

  it('refuses what is too large, with its length announced and without', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-reader-'))
    const file = join(folder, 'too-large')
    const auth = ['-H', `Authorization: ${alice.Authorization}`]
    await writeFile(file, Buffer.alloc(largest + 1))
    expect(await statusOf(...auth, '-T', file, `${app.url}/files/large`)).to.equal(413)
    const chunked = ['-H', 'Transfer-Encoding: chunked', '-H', 'Expect:']
    expect(await statusOf(...auth, ...chunked, '-T', file, `${app.url}/files/large`)).to.equal(413)
    await rm(folder, { recursive: true })
    await expectNoFiles(app.data)
  })

  it('keeps nothing of an upload that breaks off', async () => {
    const headers = { ...alice, 'Content-Length': 2 ** 24 }
    const part = { method: 'PUT', headers, beginning: randomBytes(2 ** 20) }
    await breakOff(`${app.url}/files/broken`, app.data, part)
    await expectNoFiles(app.data)
  })

  it('keeps a large file bit by bit', async () => {
    const content = randomBytes(32 * 2 ** 20)
    expect(await put('large', content)).to.equal(201)
    const served = Buffer.from(await (await ask('GET', '/files/large')).arrayBuffer())
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(digest(served)).to.equal(digest(content))
    await remove('large')
  })
})
