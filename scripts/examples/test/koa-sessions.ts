import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { startExample, type RunningExample } from './run-example.ts'
import { statusOf } from './curl.ts'
import { breakOff, expectNoFiles, filesIn } from './uploads.ts'

describe('examples/koa-sessions', function () {
  this.timeout(120_000)
  let app: RunningExample
  before(async () => {
    app = await startExample('koa-sessions')
  })
  after(async () => {
    expect(await app.stop()).to.equal(0)
  })

  const logIn = (name: string, password: string) =>
    fetch(`${app.url}/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, password }),
    })
  const sessionOf = async (name: string, password: string) => {
    const [cookie = ''] = (await logIn(name, password)).headers.getSetCookie()
    return { Cookie: cookie.split(';')[0] ?? '' }
  }
  const alice = () => sessionOf('alice', 'wonderland')
  const ask = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Buffer<ArrayBuffer>,
  ) => fetch(`${app.url}${path}`, { method, headers, ...(body !== undefined && { body }) })

  it('gives a session that scripts and other sites do not get', async () => {
    const response = await logIn('alice', 'wonderland')
    expect(response.status).to.equal(204)
    expect(response.headers.get('set-cookie')).to.match(
      /^session=[\w-]{43}; path=\/; expires=.*; samesite=lax; httponly$/,
    )
  })

  it('refuses wrong passwords and strangers alike', async () => {
    const answers = await Promise.all(
      [logIn('alice', 'looking-glass'), logIn('mallory', 'wonderland')].map(async (answer) => {
        const response = await answer
        return [response.status, await response.text()]
      }),
    )
    expect(answers).to.deep.equal([
      [401, 'Wrong name or password'],
      [401, 'Wrong name or password'],
    ])
  })

  it('keeps a file of any name for its user, and shows no one else that it is there', async () => {
    const session = await alice()
    const path = `/${encodeURIComponent('Übersicht 2026 €.txt')}`
    expect((await ask('PUT', `/files/upload${path}`, session, 'secret')).status).to.equal(200)
    expect(await (await ask('GET', '/files/list', session)).json()).to.deep.equal([
      'Übersicht 2026 €.txt',
    ])
    expect(await (await ask('GET', `/files/serve${path}`, session)).text()).to.equal('secret')

    const bob = await sessionOf('bob', 'builder')
    expect(await (await ask('GET', '/files/list', bob)).json()).to.include({
      message: 'No files uploaded yet',
    })
    expect(await (await ask('GET', `/files/serve${path}`, bob)).json()).to.include({
      message: 'File not found',
    })
    expect(await (await ask('GET', '/activity', bob)).json()).to.deep.equal([])
    expect(await (await ask('GET', '/activity', session)).json()).to.deep.equal([
      'read 6 of 6 bytes of Übersicht 2026 €.txt',
      'stored Übersicht 2026 €.txt',
    ])
    expect((await ask('DELETE', `/files/delete${path}`, session)).status).to.equal(200)
    await expectNoFiles(app.data)
  })

  it('lets no one in without a session, with a wrong one, or with one that has ended', async () => {
    const session = await alice()
    expect((await ask('POST', '/logout', session)).status).to.equal(204)
    const headers = { 'x-auth-name': 'alice', 'x-auth-password': 'wonderland' }
    for (const login of [{}, { Cookie: `session=${'A'.repeat(43)}` }, session, headers]) {
      const response = await ask('PUT', '/files/upload/a', { ...login }, 'content')
      expect([response.status, await response.json()]).to.deep.equal([
        401,
        { statusCode: 401, error: 'Unauthorized', message: 'Log in first' },
      ])
      expect((await ask('GET', '/activity', { ...login })).status).to.equal(401)
    }
    await expectNoFiles(app.data)
  })

  it('does nothing that a page of another site asks for', async () => {
    const session = await alice()
    const statusFor = (sender: string) =>
      statusOf(
        '-X',
        'PUT',
        '-d',
        'content',
        '-H',
        `Cookie: ${session.Cookie}`,
        '-H',
        sender,
        `${app.url}/files/upload/a`,
      )
    expect(await statusFor('Sec-Fetch-Site: cross-site')).to.equal(403)
    expect(await statusFor('Sec-Fetch-Site: same-site')).to.equal(403)
    expect(await statusFor('Origin: https://evil.example')).to.equal(403)
    await expectNoFiles(app.data)
    expect(await statusFor(`Origin: ${app.url}`)).to.equal(200)
    expect(await filesIn(app.data)).to.deep.equal(['alice/a'])
    await ask('DELETE', '/files/delete/a', session)
  })

  it('keeps nothing of an upload that breaks off', async () => {
    const headers = { ...(await alice()), 'Content-Length': 2 ** 24 }
    const beginning = randomBytes(2 ** 20)
    const part = { method: 'PUT', headers, beginning }
    await breakOff(`${app.url}/files/upload/broken`, app.data, part)
    await expectNoFiles(app.data)
  })

  it('keeps a large file bit by bit, and serves a part of it', async () => {
    const session = await alice()
    const content = randomBytes(32 * 2 ** 20)
    const digest = createHash('sha256').update(content).digest('base64')
    const checked = { ...session, 'Content-Digest': `sha-256=:${digest}:` }
    expect((await ask('PUT', '/files/upload/large', checked, content)).status).to.equal(200)
    const range = { ...session, Range: 'bytes=20000000-' }
    const part = await (await ask('GET', '/files/serve/large', range)).arrayBuffer()
    expect(content.subarray(20_000_000).equals(Buffer.from(part))).to.equal(true)
  })

  it('shows a page to log in', async () => {
    const response = await fetch(app.url)
    expect(response.headers.get('content-type')).to.match(/^text\/html/)
    expect(await response.text()).to.contain('id="login"')
  })
})
