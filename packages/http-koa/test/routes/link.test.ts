import { createHmac } from 'node:crypto'
import { createFileService } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import Koa from 'koa'
import { createRouter } from '../../src/router.ts'
import { createHttpServer } from '../../src/server/http-server.ts'
import { listen } from '../support/listening.ts'
import { customerRequest } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

const linkOf = (body: string) => (JSON.parse(body) as { readonly url: string }).url

describe('links over HTTP', () => {
  it('are not there where the application turns them off', async () => {
    await using app = await runApp({ links: false })
    await app.files.upload('a', 'a')
    const answer = await exchange(app.port, customerRequest('POST', '/link/a'))
    expect(answer.status).to.equal(404)
  })

  it('have the path of the application around the routes in them', async () => {
    const credentials = createMemoryCredentialSource([{ name: 'demo', passwordHash: 'sesame' }])
    const service = createFileService({
      store: createMemoryBlobStore(),
      credentials,
      verifyPassword: (password, hash) => password === hash,
      createLinkSignature: (key) => createHmac('sha256', key),
    })
    await service.filesOf({ name: 'demo' }).upload('a b', 'content')
    const app = new Koa().use(createRouter(service, { prefix: '/files/v1' }).routes())
    await using server = await listen(createHttpServer(app))
    const made = await fetch(`${server.url}/files/v1/link/a%20b?x=/link/y`, {
      method: 'POST',
      headers: auth,
    })
    const link = linkOf(await made.text())
    expect(link.startsWith(`${server.url}/files/v1/serve/a%20b?link=`)).to.equal(true)
    expect(await (await fetch(link)).text()).to.equal('content')
  })

  it('are made of a body that comes in pieces, and not of one that breaks off', async () => {
    await using app = await runApp()
    await app.files.upload('a', 'a')
    const chunked = { 'Transfer-Encoding': 'chunked' }
    const head = customerRequest('POST', '/link/a', chunked)
    using whole = await openConnection(app.port)
    whole.write(head, '9\r\n{"inline"\r\n', '6\r\n:true}\r\n0\r\n\r\n')
    expect((await whole.answer()).status).to.equal(200)
    using cut = await openConnection(app.port)
    cut.write(customerRequest('POST', '/link/a', { 'Content-Length': 9 }), '{"inline"')
    expect((await cut.answer()).status).to.equal(400)
  })

  it('have places of their own under way, so that they cannot keep the customer out', async () => {
    const taken: string[] = []
    const requestCounter = {
      count: () => 0,
      change(key: string, by: 1 | -1) {
        if (by === 1) taken.push(key)
      },
    }
    await using app = await runApp({ requestCounter })
    await app.files.upload('a', 'a')
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth })
    await (await fetch(linkOf(await made.text()))).text()
    expect(taken).to.deep.equal(['', 'demo', '', 'link/demo'])
  })

  it('are reported as used by a link', async () => {
    const reported: (readonly [string, boolean, string | undefined])[] = []
    await using app = await runApp({
      onAnswered: ({ route, isByLink, code }) => void reported.push([route, isByLink, code]),
    })
    await app.files.upload('a', 'a')
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth })
    const link = linkOf(await made.text())
    await (await fetch(link)).text()
    await (await fetch(`${link}0`)).text()
    await until('all are reported', () => reported.length === 3)
    expect(reported).to.deep.equal([
      ['link', false, undefined],
      ['serve', true, undefined],
      ['serve', false, 'link-refused'],
    ])
  })
})
