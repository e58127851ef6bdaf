import { expect } from 'chai'
import { rejection } from '@holdfast/testing'
import { createClient, isHoldfastError } from '../src/index.ts'
import { all } from './support/all.ts'
import { clientOf, login } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

describe('Client', () => {
  const service = useService()

  it('says that the server is there', async () => {
    await clientOf(service).ping()
  })

  it('stores, serves, names and deletes files under any name', async () => {
    const client = clientOf(service)
    const names = ['notes.txt', '100% café.txt', 'a?b#c&d=e', '%41', '…', 'C:\\temp', ' ', '密']
    for (const name of names) await client.upload(name, `content of ${name}`)
    for (const name of names) {
      expect(await (await client.download(name)).text()).to.equal(`content of ${name}`)
      expect(await client.stat(name)).to.include({
        name,
        size: Buffer.byteLength(`content of ${name}`),
      })
    }
    expect((await all(client.list())).toSorted()).to.deep.equal(names.toSorted())
    for (const name of names) await client.delete(name)
    expect(await all(client.list())).to.deep.equal([])
  })

  it('refuses names that a URL cannot have, before it sends anything', async () => {
    const client = clientOf(service)
    for (const name of ['.', '..', 'half \ud800']) {
      expect(await rejection(client.upload(name, ''))).to.include({ code: 'invalid-file-name' })
      expect(await rejection(client.delete(name))).to.include({ code: 'invalid-file-name' })
      expect(await rejection(client.download(name))).to.include({ code: 'invalid-file-name' })
    }
    expect(service.requests).to.deep.equal([])
  })

  it('knows one file, and not those whose names begin with its name', async () => {
    const client = clientOf(service)
    await client.upload('notes.txt.old', 'x')
    expect(await rejection(client.stat('notes.txt'))).to.include({
      code: 'not-found',
      status: 400,
    })
    await client.upload('notes.txt', 'xyz')
    expect(await client.stat('notes.txt')).to.include({ name: 'notes.txt', size: 3 })
  })

  it('knows a file to the second, without a list', async () => {
    const client = clientOf(service)
    await client.upload('notes.txt', 'xyz')
    const { modified, ...others } = await client.stat('notes.txt')
    const rounded = modified.replace(/\.\d{3}Z$/, '.000Z')
    service.requests.length = 0
    const found = await client.stat('notes.txt', { isRounded: true })
    expect(found).to.deep.equal({ ...others, modified: rounded })
    expect(service.requests).to.deep.equal(['HEAD /serve/notes.txt'])
    const missing = client.stat('land.txt', { isRounded: true })
    expect(await rejection(missing)).to.include({ code: 'not-found', status: 400 })
    const stranger = clientOf(service, { password: 'wrong' }).stat('a', { isRounded: true })
    expect(await rejection(stranger)).to.include({ code: 'invalid-credentials' })
  })

  it('makes links that open a file without a password', async () => {
    const client = clientOf(service)
    await client.upload('sea.txt', 'blue')
    const { url, expires } = await client.link('sea.txt', { expiresIn: 60 })
    expect(await (await fetch(url)).text()).to.equal('blue')
    expect(expires.getTime()).to.be.above(Date.now())
    expect(await rejection(client.link('land.txt'))).to.include({ code: 'not-found' })
  })

  it('makes links of the address that it has itself: a proxy may hide that from the server', async () => {
    await using server = await startServer((request, response) => {
      const expires = new Date().toISOString()
      const [, name = ''] = /link\/(.*)$/.exec(request.url ?? '') ?? []
      request.resume().on('end', () => {
        const url = `http://internal:3000/base/serve/${name}?link=token`
        response.writeHead(200, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ url, expires }))
      })
    })
    const base = `http://127.0.0.1:${server.port}/files`
    const client = createClient({ url: base, ...login })
    expect((await client.link('a b:c')).url).to.equal(`${base}/serve/a%20b%3Ac?link=token`)
  })

  it('says what the customer keeps', async () => {
    const client = clientOf(service)
    await client.upload('a', '12345')
    expect(await client.usage()).to.include({ files: 1, bytes: 5 })
  })

  it('gives errors the codes of the API, and their place in the log', async () => {
    const client = clientOf(service)
    const error = await rejection(client.download('missing'))
    expect(isHoldfastError(error, 'not-found')).to.equal(true)
    expect(isHoldfastError(error, 'quota-exceeded')).to.equal(false)
    expect(error).to.include({ name: 'HoldfastError', status: 400, message: 'File not found' })
    expect(error)
      .to.have.property('requestId')
      .that.matches(/^[\w-]{36}$/)
    const stranger = clientOf(service, { password: 'wrong' })
    expect(await rejection(stranger.list().next())).to.include({ code: 'invalid-credentials' })
  })

  it('says which answers are not those of the API', async () => {
    const mounted = createClient({
      ...login,
      url: `http://127.0.0.1:${service.port}/elsewhere?a#b`,
    })
    expect(await rejection(mounted.usage())).to.include({ code: 'unknown-path', status: 404 })
    expect(service.requests).to.deep.equal(['GET /elsewhere/usage'])
  })

  it('ends what is aborted with the reason of the signal', async () => {
    const client = clientOf(service)
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    await client.upload('a', 'b')
    for (const request of [
      client.ping({ signal }),
      client.upload('a', 'c', { signal }),
      client.download('a', { signal }),
      client.list({ signal }).next(),
      client.delete('a', { signal }),
    ]) {
      expect(await rejection(request)).to.equal(reason)
    }
    expect(await (await client.download('a')).text()).to.equal('b')
  })

  it('refuses options that cannot work', () => {
    const url = `http://127.0.0.1:${service.port}`
    expect(() => createClient({ ...login, url: 'ftp://files' })).to.throw(
      TypeError,
      'Not an HTTP URL',
    )
    expect(() => createClient({ ...login, url: 'http://a:b@files' })).to.throw(
      TypeError,
      'not in the URL',
    )
    expect(() => createClient({ ...login, url, name: '' })).to.throw(TypeError, 'name is missing')
    for (const wrong of ['a\nb', '\x01', 'a\x7f']) {
      expect(() => createClient({ ...login, url, password: wrong })).to.throw(
        TypeError,
        'password has a control character',
      )
    }
  })

  it('refuses numbers that cannot be meant, and takes all others', async () => {
    for (const wrong of [
      { retries: NaN },
      { retries: -1 },
      { idleTimeoutMs: 0 },
      { idleTimeoutMs: NaN },
    ]) {
      expect(() => clientOf(service, wrong)).to.throw(RangeError)
    }
    await clientOf(service, { idleTimeoutMs: Infinity, retries: 0 }).usage()
  })

  it('keeps the password out of what is printed of it', async () => {
    const { inspect } = await import('node:util')
    expect(inspect(clientOf(service), { depth: null, showHidden: true })).not.to.include(
      login.password,
    )
  })
})

describe('The entry for browsers', () => {
  it('has what the other one has', async () => {
    // The tests are compiled without the types of browsers.
    const entry = new URL('../src/browser.ts', import.meta.url).href
    const browser = (await import(entry)) as Readonly<Record<string, () => unknown>>
    const node = await import('../src/index.ts')
    expect(Object.keys(browser).toSorted()).to.deep.equal(Object.keys(node).toSorted())
    expect(() => browser['openFile']?.()).to.throw(TypeError, 'upload a File')
  })
})
