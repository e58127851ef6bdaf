import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openConnection } from '@holdfast/testing'
import { expect } from 'chai'
import { request } from '../../support/request.ts'
import { auth, runApp } from '../../support/running-app.ts'
import { createTusClient, named, pieceType } from '../../support/tus-client.ts'

const length = { 'Upload-Length': '5' }
const someId = '0123456789abcdef0123456789abcdef'

describe('/resumable', () => {
  it('says to everybody what of tus it knows', async () => {
    await using app = await runApp({ maxFileSize: 1000 })
    for (const path of ['/resumable', '/resumable/', `/resumable/${someId}`]) {
      const { status, headers } = await fetch(`${app.url}${path}`, { method: 'OPTIONS' })
      expect(status).to.equal(204)
      expect(headers.get('tus-resumable')).to.equal('1.0.0')
      expect(headers.get('tus-version')).to.equal('1.0.0')
      expect(headers.get('tus-extension')).to.equal(
        'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
      )
      expect(headers.get('tus-checksum-algorithm')).to.equal('sha256,sha1')
      expect(headers.get('tus-max-size')).to.equal('1000')
    }
  })

  it('has no largest size where there is none', async () => {
    await using app = await runApp()
    const { headers } = await fetch(`${app.url}/resumable`, { method: 'OPTIONS' })
    expect(headers.has('tus-max-size')).to.equal(false)
  })

  it('refuses strangers before anything else, in words of tus', async () => {
    await using app = await runApp()
    for (const [method, path] of [
      ['POST', '/resumable'],
      ['HEAD', `/resumable/${someId}`],
      ['PATCH', `/resumable/${someId}`],
      ['DELETE', `/resumable/${someId}`],
    ] as const) {
      const answer = await fetch(`${app.url}${path}`, {
        method,
        headers: { ...auth, 'x-auth-password': 'wrong' },
      })
      expect(answer.status).to.equal(400)
      expect(answer.headers.get('tus-resumable')).to.equal('1.0.0')
      const message = 'Invalid credentials'
      if (method !== 'HEAD') expect(await answer.json()).to.include({ message })
    }
  })

  it('refuses requests of no version, and of another one', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    for (const version of [{}, { 'Tus-Resumable': '0.2.2' }]) {
      for (const [method, place] of [
        ['POST', `${app.url}/resumable`],
        ['HEAD', url],
        ['PATCH', url],
        ['DELETE', url],
      ] as const) {
        const headers = { ...auth, ...length, ...named('b'), ...version }
        const answer = await fetch(place, { method, headers })
        expect(answer.status).to.equal(412)
        expect(answer.headers.get('tus-version')).to.equal('1.0.0')
        expect(answer.headers.get('tus-resumable')).to.equal('1.0.0')
      }
    }
    expect((await client.head(url)).offset).to.equal(0)
  })

  it('takes the method that X-HTTP-Method-Override says', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    const send = (override: string, headers = {}, body?: string) =>
      client.send('POST', url, { 'X-HTTP-Method-Override': override, ...headers }, body)
    const piece = { ...pieceType, 'Upload-Offset': '0' }
    expect(await send('PATCH', piece, 'He')).to.include({ status: 204, offset: 2 })
    expect(await send('head')).to.include({ status: 200, offset: 2, body: '' })
    expect((await send('GET')).status).to.equal(405)
    expect((await send('DELETE')).status).to.equal(204)
    expect((await client.head(url)).status).to.equal(404)
  })

  it('says which methods its paths know', async () => {
    await using app = await runApp()
    for (const [method, path, allow] of [
      ['GET', '/resumable', 'POST, OPTIONS'],
      ['PATCH', '/resumable/', 'POST, OPTIONS'],
      ['HEAD', '/resumable', 'POST, OPTIONS'],
      ['GET', `/resumable/${someId}`, 'HEAD, PATCH, DELETE, OPTIONS'],
      ['POST', `/resumable/${someId}`, 'HEAD, PATCH, DELETE, OPTIONS'],
    ] as const) {
      const { status, headers } = await fetch(`${app.url}${path}`, { method })
      expect(status, `${method} ${path}`).to.equal(405)
      expect(headers.get('allow')).to.equal(allow)
      expect(headers.get('tus-resumable')).to.equal('1.0.0')
    }
  })

  for (const id of [
    someId,
    'short',
    '..%2F..%2Fetc',
    '%00',
    'a'.repeat(65),
    '%ZZ',
    'é'.repeat(16),
  ]) {
    it(`knows no upload ${JSON.stringify(id)}`, async () => {
      await using app = await runApp()
      const client = createTusClient(app.url)
      const url = `${app.url}/resumable/${id}`
      expect(await client.append(url, 0, 'Hello')).to.include({
        status: 404,
        body: '{"statusCode":404,"error":"Not Found","message":"Upload not found"}',
      })
      expect(await client.head(url)).to.include({ status: 404, offset: undefined })
      expect((await client.send('DELETE', url)).status).to.equal(404)
    })
  }

  it('lets a waiting client send its body only when the upload takes it', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    const { pathname } = new URL(url)
    const headers = {
      ...auth,
      ...pieceType,
      'Tus-Resumable': '1.0.0',
      Expect: '100-continue',
      'Content-Length': 2,
    }
    using refused = await openConnection(app.port, { staysOpen: true })
    refused.write(request('PATCH', pathname, { ...headers, 'Upload-Offset': 1 }))
    expect((await refused.answer()).status).to.equal(409)
    using taken = await openConnection(app.port, { staysOpen: true })
    taken.write(request('PATCH', pathname, { ...headers, 'Upload-Offset': 0 }))
    expect((await taken.answer()).status).to.equal(100)
  })

  it('is not there for a store that keeps no uploads in pieces, or if it is switched off', async () => {
    const { resumable: _none, ...plain } = createMemoryBlobStore()
    for (const options of [{ store: plain }, { resumable: false }]) {
      await using app = await runApp(options)
      for (const method of ['OPTIONS', 'POST']) {
        const answer = await fetch(`${app.url}/resumable`, { method, headers: auth })
        expect(await answer.json()).to.include({ statusCode: 404, message: 'Not Found' })
      }
    }
  })
})
