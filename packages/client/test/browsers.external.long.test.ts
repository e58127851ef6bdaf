import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { build } from 'esbuild'
import { login, startService } from './support/running-service.ts'

/** What a page does with the client; its result is compared. */
const script = `
import { createClient, isHoldfastError } from '@holdfast/client'

globalThis.useClient = async (options) => {
  const client = createClient(options)
  const large = new Uint8Array(17 * 1024 ** 2)
  for (let at = 0; at < large.length; at += 65536) crypto.getRandomValues(large.subarray(at, at + 65536))
  const said = []
  await client.upload('grüße.txt', 'Hello')
  await client.upload('large', new File([large], 'large'), { onProgress: ({ sent }) => said.push(sent) })
  await client.upload('stream', new Blob([large]).stream())
  const many = ['"%22"', '密', 'largest'].map((name) => ({ name, body: new File([name], name) }))
  many.push({ name: 'a/b', body: 'refused' })
  const refused = []
  for await (const { name, error } of client.uploadMany(many)) if (error) refused.push(name, error.code)
  const wholes = []
  for (const name of ['large', 'stream']) {
    const stored = await (await client.download(name)).bytes()
    wholes.push(stored.length === large.length && stored.every((byte, at) => byte === large[at]))
  }
  const codes = []
  for (const failing of [
    () => client.upload('large', 'x', { createOnly: true }),
    () => client.download('missing'),
    () => createClient({ ...options, password: 'wrong' }).usage(),
  ]) {
    await failing().catch((error) => codes.push(isHoldfastError(error) && error.code))
  }
  const failures = []
  for (const size of [15, 17]) {
    const onProgress = ({ sent }) => {
      if (sent > 0) throw new Error('no screen')
    }
    const body = new File([large.subarray(0, size * 1024 ** 2)], 'ended')
    await client.upload('ended', body, { onProgress }).catch(({ message }) => failures.push(message))
  }
  await client.delete('ended').catch(() => {})
  const names = []
  for await (const name of client.list()) names.push(name)
  const { url } = await client.link('grüße.txt')
  await client.delete('large')
  const gone = []
  for await (const { name, error } of client.deleteMany(['密', 'missing'])) gone.push(name, error?.code ?? 'gone')
  return {
    text: await (await client.download('grüße.txt', { start: 1, end: 3 })).text(),
    wholes,
    refused,
    last: said.at(-1),
    codes,
    failures,
    names,
    gone,
    linked: new URL(url).pathname,
    left: (await client.usage()).files,
  }
}
`

for (const browser of ['chromium', 'firefox'] as const) {
  describe(`The client in ${browser}`, function () {
    this.timeout(120_000)

    it('uploads, downloads, lists, shares and deletes, from a page of another origin', async () => {
      const page = await startPage()
      await using service = await startService({ corsOrigins: [page.origin] })
      await using opened = await openBrowser(browser)
      try {
        const tab = await opened.newPage()
        const uncaught: unknown[] = []
        tab.on('pageerror', (error) => uncaught.push(error))
        await tab.goto(page.origin)
        const options = { url: `http://127.0.0.1:${service.port}`, ...login }
        const result = await tab.evaluate(`useClient(${JSON.stringify(options)})`)
        expect(result).to.deep.equal({
          text: 'el',
          wholes: [true, true],
          refused: ['a/b', 'invalid-file-name'],
          last: 17 * 1024 ** 2,
          codes: ['already-exists', 'not-found', 'invalid-credentials'],
          failures: ['no screen', 'no screen'],
          names: ['"%22"', 'grüße.txt', 'large', 'largest', 'stream', '密'],
          linked: '/serve/gr%C3%BC%C3%9Fe.txt',
          gone: ['密', 'gone', 'missing', 'not-found'],
          left: 4,
        })
        expect(service.requests).to.include('POST /resumable')
        expect(uncaught).to.deep.equal([])
      } finally {
        page.close()
      }
    })
  })
}

/** An empty page that has the client, as bundlers for browsers find it. */
async function startPage() {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: join(import.meta.dirname, '..') },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    charset: 'utf8',
    write: false,
  })
  const html = `<!doctype html><meta charset="utf-8"><script>${outputFiles[0]?.text}</script>`
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(html)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => void server.close(),
  }
}
