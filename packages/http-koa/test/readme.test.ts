import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'

/** Makes an example listen on a port of its own, and tell which. */
const listenAnywhere = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function () {
  return listen.call(this, 0, '127.0.0.1', () => console.log(this.address().port))
}
`

/** Runs one of the README's examples for as long as \visit takes. */
async function withExample(title: string, visit: (url: string) => Promise<void>): Promise<void> {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
  const [, example = ''] = new RegExp(`## ${title}\n\n\`\`\`ts\n([^]*?)\`\`\``).exec(readme) ?? []
  // Inside the package, where its own name resolves to it.
  const place = await mkdtemp(join(import.meta.dirname, 'readme-'))
  try {
    await writeFile(join(place, 'listen-anywhere.mjs'), listenAnywhere)
    await writeFile(join(place, 'example.ts'), example)
    const run = ['--import', './listen-anywhere.mjs', 'example.ts']
    const child = spawn(process.execPath, run, { cwd: place, stdio: ['ignore', 'pipe', 'inherit'] })
    const closed = once(child, 'close')
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const { value: port } = await lines.next()
      await visit(`http://127.0.0.1:${port}`)
    } finally {
      child.kill()
      await closed
    }
  } finally {
    await rm(place, { recursive: true })
  }
}

function formOf(name: string, content: string): FormData {
  const form = new FormData()
  form.append('file', new Blob([content]), name)
  return form
}

describe('The README of @holdfast/http-koa', () => {
  it('shows the whole service', () =>
    withExample('The whole service', async (url) => {
      const headers = { 'x-auth-name': 'demo', 'x-auth-password': 'sesame' }
      const body = formOf('hello.txt', 'Hello')
      const stored = await fetch(`${url}/upload`, { method: 'POST', headers, body })
      expect(await stored.text()).to.equal('OK')
      const served = await fetch(`${url}/serve/hello.txt`, { headers })
      expect(await served.text()).to.equal('Hello')
      expect((await fetch(`${url}/list`)).status).to.equal(400)
    }))

  it('shows the routes in an application of Koa', () =>
    withExample('Your Koa application', async (url) => {
      const headers = { cookie: 'session=s3cr3t' }
      const init = { method: 'PUT', headers, body: 'Hello' }
      expect(await (await fetch(`${url}/files/upload/hello.txt`, init)).text()).to.equal('OK')
      expect(await (await fetch(`${url}/files/list`, { headers })).json()).to.deep.equal([
        'hello.txt',
      ])
      expect((await fetch(`${url}/files/list`)).status).to.equal(400)
      expect(await (await fetch(url)).text()).to.equal('the rest of your application')
    }))

  it('shows the engine in an application of Express', () =>
    withExample('Multer, in Express or Koa', async (url) => {
      const body = formOf('hello.txt', 'Hello')
      const response = await fetch(`${url}/attachments`, { method: 'POST', body })
      expect(await response.text()).to.match(/^stored as \S+$/)
    }))
})
