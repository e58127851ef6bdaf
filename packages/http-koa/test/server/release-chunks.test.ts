import { createServer } from 'node:http'
import { createFileService } from '@holdfast/core'
import { expect } from 'chai'
import Koa from 'koa'
import { exchange } from '@holdfast/testing'
import { createRouter } from '../../src/index.ts'
import { listen } from '../support/listening.ts'
import { createReleasingStore } from '../support/releasing-store.ts'
import { customerRequest, filePart, form, formType } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

const size = 4 * 1024 * 1024

/** Has much of what looks like the end of a form's part; few chunks end amid it, and come in two pieces therefore. */
const content = Buffer.alloc(size, 'abc\r\n--\r\n\r\n----x\r' + 'x'.repeat(500))

const asForm = () => {
  const form = new FormData()
  form.append('file', new Blob([content]), 'a')
  return form
}

const uploads = {
  'PUT /upload/a': { path: '/upload/a', method: 'PUT', body: () => content },
  'POST /upload': { path: '/upload', method: 'POST', body: asForm },
  'POST /upload/batch': { path: '/upload/batch', method: 'POST', body: asForm },
}

describe('releaseChunks', () => {
  for (const [route, { path, method, body }] of Object.entries(uploads)) {
    it(`frees what ${route} brings once it is stored, and nothing before`, async () => {
      const store = createReleasingStore()
      await using app = await runApp({ store })
      const url = `http://127.0.0.1:${app.port}`
      const answer = await fetch(url + path, { method, headers: auth, body: body() })
      expect(answer.status).to.equal(200)
      const served = await fetch(`${url}/serve/a`, { headers: auth })
      expect(content.equals(await served.bytes())).to.equal(true)
      expect(store.taken()).to.equal(size)
      expect(store.freed(), 'bytes freed').to.be.above(size / 2)
    })
  }

  it('frees nothing that two files of a form share', async () => {
    await using app = await runApp({ store: createReleasingStore() })
    const body = form(filePart('a', 'of a'), filePart('b', 'of b'))
    const headers = { 'Content-Type': formType }
    await exchange(app.port, customerRequest('POST', '/upload/batch', headers, body))
    const { body: served } = await exchange(app.port, customerRequest('GET', '/serve/b'))
    expect(served).to.equal('of b')
  })

  it('leaves chunks alone that others may have kept', async () => {
    const kept: Buffer[] = []
    const store = createReleasingStore()
    const app = new Koa()
    app.use((ctx, next) => {
      ctx.req.on('data', (chunk: Buffer) => kept.push(chunk)).pause()
      return next()
    })
    const service = createFileService({ store })
    const authenticate = async () => service.filesOf({ name: 'demo' })
    app.use(createRouter(service, { authenticate }).routes())
    const callback = app.callback()
    await using running = await listen(
      createServer((request, response) => void callback(request, response)),
    )
    const url = `http://127.0.0.1:${running.port}/upload/a`
    expect((await fetch(url, { method: 'PUT', body: content })).status).to.equal(200)
    expect(Buffer.concat(kept).equals(content)).to.equal(true)
    expect(store.freed()).to.equal(0)
  })
})
