import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSite, credentials, customersYaml, until, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { startServer, type RunningServer } from '../../src/serve/start-server.ts'

const silent = pino({ level: 'silent' })

describe('links of a server', () => {
  let site: Site
  const servers: RunningServer[] = []
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close(AbortSignal.abort())))
    await site.remove()
  })

  const customers = () => join(site.path, 'customers.yaml')
  const start = async (flags: Readonly<Record<string, string>> = {}) => {
    const paths = { data: join(site.path, 'data'), customers: customers() }
    const config = resolveConfig({ flags: { port: '0', ...paths, ...flags } })
    const server = await startServer(config, silent)
    servers.push(server)
    return server
  }
  const post = (server: RunningServer, body = '{}') =>
    fetch(`${server.url}/link/a`, { method: 'POST', headers: credentials, body })
  const makeLink = async (server: RunningServer) => {
    const put = { method: 'PUT', headers: credentials, body: 'content' }
    expect((await fetch(`${server.url}/upload/a`, put)).status).to.equal(200)
    const { url } = (await (await post(server)).json()) as { readonly url: string }
    return url.slice(server.url.length)
  }
  const statusOf = async (server: RunningServer, link: string) =>
    (await fetch(`${server.url}${link}`)).status
  const replaceCustomers = async (text: string) => {
    await writeFile(`${customers()}.new`, text, { mode: 0o600 })
    await rename(`${customers()}.new`, customers())
  }

  it('are good at every server with the same customers, and after a restart', async () => {
    const [first, second] = [await start(), await start()]
    const link = await makeLink(first)
    expect(await (await fetch(`${second.url}${link}`)).text()).to.equal('content')
    await first.close()
    expect(await statusOf(await start(), link)).to.equal(200)
  })

  it('end when the password is rotated while the server runs, and when the customer is removed', async () => {
    const server = await start()
    const link = await makeLink(server)
    const before = await readFile(customers(), 'utf8')
    await replaceCustomers(customersYaml('demo', 'another password'))
    expect(await server.reload()).to.equal(true)
    expect(await statusOf(server, link)).to.equal(403)
    await replaceCustomers('customers: []\n')
    await server.reload()
    expect(await statusOf(server, link)).to.equal(403)
    await replaceCustomers(before)
    await server.reload()
    expect(await statusOf(server, link)).to.equal(200)
  })

  it('are good for at most --max-link-age', async () => {
    const server = await start({ 'max-link-age': '90s' })
    await makeLink(server)
    expect((await post(server, '{"expiresIn":90}')).status).to.equal(200)
    const refused = (await (await post(server, '{"expiresIn":91}')).json()) as object
    expect(refused).to.deep.include({
      message: 'Invalid expiresIn: it must be a whole number of seconds from 1 to 90',
    })
  })

  it('are neither made nor opened with --no-links', async () => {
    const link = await makeLink(await start())
    const server = await start({ 'no-links': 'true' })
    expect((await post(server)).status).to.equal(404)
    const answer = await fetch(`${server.url}${link}`)
    expect(await answer.json()).to.deep.include({ statusCode: 400, message: 'No auth headers' })
  })

  it('stand in the audit trail: who made them, and from where they were used', async () => {
    const trail = join(site.path, 'audit.jsonl')
    const server = await start({ 'audit-log': trail })
    const link = await makeLink(server)
    await statusOf(server, link)
    for (const range of ['bytes=0-1', 'bytes=2-', 'bytes=99-']) {
      await fetch(`${server.url}${link}`, { headers: { range } })
    }
    await fetch(`${server.url}${link}`, { method: 'HEAD' })
    await statusOf(server, `${link}0`)
    const lines = async () => (await readFile(trail, 'utf8')).trim().split('\n')
    await until('all events are written', async () => (await lines()).length === 5)
    const text = await lines()
    expect(text.join()).to.not.include(link.slice(-64))
    const events = text.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    const shown = events.map(({ event, outcome, reason, customer, file, address }) =>
      [event, outcome, reason, customer, file, address].join(),
    )
    expect(shown).to.deep.equal([
      'upload,ok,,demo,a,127.0.0.1',
      'link,ok,,demo,a,127.0.0.1',
      'download,ok,,demo,a,127.0.0.1',
      'download,ok,,demo,a,127.0.0.1',
      'download,refused,link-refused,,a,127.0.0.1',
    ])
  })
})
