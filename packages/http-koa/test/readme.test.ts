import { withReadmeServer } from '@holdfast/testing'
import { expect } from 'chai'

function formOf(name: string, content: string): FormData {
  const form = new FormData()
  form.append('file', new Blob([content]), name)
  return form
}

describe('The README of @holdfast/http-koa', () => {
  it('shows the whole service', () =>
    withReadmeServer(import.meta.dirname, 'The whole service', async (url) => {
      const headers = { 'x-auth-name': 'demo', 'x-auth-password': 'sesame' }
      const body = formOf('hello.txt', 'Hello')
      const stored = await fetch(`${url}/upload`, { method: 'POST', headers, body })
      expect(await stored.text()).to.equal('OK')
      const served = await fetch(`${url}/serve/hello.txt`, { headers })
      expect(await served.text()).to.equal('Hello')
      expect((await fetch(`${url}/list`)).status).to.equal(400)
    }))

  it('shows the routes in an application of Koa', () =>
    withReadmeServer(import.meta.dirname, 'Your Koa application', async (url) => {
      const headers = { cookie: 'session=s3cr3t' }
      const init = { method: 'PUT', headers, body: 'Hello' }
      expect(await (await fetch(`${url}/files/upload/hello.txt`, init)).text()).to.equal('OK')
      expect(await (await fetch(`${url}/files/list`, { headers })).json()).to.deep.equal([
        'hello.txt',
      ])
      expect((await fetch(`${url}/files/list`)).status).to.equal(400)
      expect(await (await fetch(url)).text()).to.equal('the rest of your application')
    }))

  it('shows links below a path, with a login of the application', () =>
    withReadmeServer(import.meta.dirname, 'Links with your own login', async (url) => {
      await fetch(`${url}/files/upload/hello.txt`, { method: 'PUT', body: 'Hello' })
      const headers = { 'Content-Type': 'application/json' }
      const asking = { method: 'POST', headers, body: '{}' }
      const made = await fetch(`${url}/files/link/hello.txt`, asking)
      const link = (await made.json()) as { readonly url: string }
      expect(link.url.startsWith(`${url}/files/serve/hello.txt?link=`)).to.equal(true)
      expect(await (await fetch(link.url)).text()).to.equal('Hello')
      expect((await fetch(`${link.url}0`)).status).to.equal(403)
    }))

  it('shows the engine in an application of Express', () =>
    withReadmeServer(import.meta.dirname, 'Multer, in Express or Koa', async (url) => {
      const body = formOf('hello.txt', 'Hello')
      const response = await fetch(`${url}/attachments`, { method: 'POST', body })
      expect(await response.text()).to.match(/^stored as \S+$/)
    }))
})
