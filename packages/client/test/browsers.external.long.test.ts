import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { openBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { build } from 'esbuild'
import { login, startService } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'

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

const redirected = `
import { createClient } from '@holdfast/client'

globalThis.useClient = async (options) => {
  const client = createClient({ ...options, retries: 0 })
  const all = async (iterable) => {
    for await (const _ of iterable);
  }
  const large = new Blob([new Uint8Array(17 * 1024 ** 2)])
  const said = {}
  for (const [name, ask] of Object.entries({
    upload: () => client.upload('small', 'x'),
    uploadLarge: () => client.upload('large', large),
    uploadStream: () => client.upload('stream', large.stream()),
    goOn: () => client.upload('large', large, { uploadUrl: new URL('resumable/1', options.url).href }),
    uploadMany: () => all(client.uploadMany([{ name: 'a', body: 'x' }])),
    download: () => client.download('small'),
    list: () => all(client.list()),
    stat: () => client.stat('small', { isRounded: true }),
    delete: () => client.delete('small', { keepalive: true }),
    deleteMany: () => all(client.deleteMany(['small'])),
    link: () => client.link('small'),
    usage: () => client.usage(),
  })) {
    await ask().then(
      () => (said[name] = 'done'),
      ({ code, message }) => (said[name] = code + ': ' + message),
    )
  }
  return said
}
`

for (const browser of ['chromium', 'firefox'] as const) {
  describe(`The client in ${browser}`, function () {
    this.timeout(120_000)

    it('uploads, downloads, lists, shares and deletes, from a page of another origin', async () => {
      await using page = await startPage(script)
      await using service = await startService({ corsOrigins: [page.origin] })
      await using opened = await openBrowser(browser)
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
    })

    it('follows no redirect, which could lead the password to another server', async () => {
      const leaked: string[] = []
      await using stranger = await startServer(({ method, url, headers }, response) => {
        const asked = headers['access-control-request-headers']
        leaked.push(`${method} ${url} ${String(headers['x-auth-password'] ?? asked)}`)
        response.setHeader('Access-Control-Allow-Origin', '*')
        response.setHeader('Access-Control-Allow-Methods', '*')
        response.setHeader('Access-Control-Allow-Headers', asked ?? '*')
        response.end('OK')
      })
      const address = `http://127.0.0.1:${stranger.port}`
      await using page = await startPage(redirected, ({ url }, response) => {
        response.writeHead(307, { Location: `${address}${url}` }).end()
      })
      await using opened = await openBrowser(browser)
      const tab = await opened.newPage()
      await tab.goto(page.origin)
      const options = { url: page.origin, ...login }
      const said: unknown = await tab.evaluate(`useClient(${JSON.stringify(options)})`)
      const refused =
        'unknown: The server redirects to another address, which must not get the password'
      expect(leaked.filter((each) => !each.includes('/favicon.ico'))).to.deep.equal([])
      expect(new Set(Object.values(said as object))).to.deep.equal(new Set([refused]))
    })
  })
}

/** An empty page that has the client, as bundlers for browsers find it; `answer` has what else is asked of its server. */
async function startPage(
  contents: string,
  answer: RequestListener = (_, response) => response.writeHead(404).end(),
) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(import.meta.dirname, '..') },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    charset: 'utf8',
    write: false,
  })
  const html = `<!doctype html><meta charset="utf-8"><script>${outputFiles[0]?.text}</script>`
  const server = await startServer((request, response) => {
    if (request.url !== '/') return answer(request, response)
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(html)
  })
  return { ...server, origin: `http://127.0.0.1:${server.port}` }
}
