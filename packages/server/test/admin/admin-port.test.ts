import { readdir } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  childrenOf,
  credentials,
  customersYaml,
  type HoldfastServer,
  openConnection,
  runHoldfast,
  until,
  uploadHead,
  useHoldfast,
  adminPortOf,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve --admin-port', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer

  const start = async (...args: string[]) => {
    server = await holdfast.start(['--admin-port', '0', ...args])
    return adminPortOf(server)
  }
  const list = async () => (await fetch(`${server.url}/list`, { headers: credentials })).status

  it('says that the server lives and is ready, and what was looked at, on this machine', async () => {
    const admin = await start()
    expect(admin.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/)
    const live = await fetch(`${admin.url}/live`)
    expect([live.status, await live.text()]).to.deep.equal([200, '{"live":true}'])
    await admin.turnsGreen()
    const { checks } = await admin.ready()
    expect(checks.map(({ name }) => name)).to.deep.equal(['store', 'free space', 'customers'])
    expect(checks[1]).to.include({ ok: true, least: 16 * 1024 * 1024 })
    expect(checks[2]).to.deep.equal({ name: 'customers', ok: true, count: 1 })
    const head = await fetch(`${admin.url}/ready`, { method: 'HEAD' })
    expect(head.status).to.equal(200)
  })

  it('gives nothing to customers there, and nothing of it to customers elsewhere', async () => {
    const admin = await start()
    for (const path of ['/ping', '/list', '/serve/a.txt']) {
      expect((await fetch(admin.url + path, { headers: credentials })).status, path).to.equal(404)
    }
    for (const path of ['/live', '/ready']) {
      expect((await fetch(server.url + path, { headers: credentials })).status, path).to.equal(404)
    }
  })

  it('probes the store where no customer sees it, and leaves nothing behind', async () => {
    const admin = await start()
    await admin.turnsGreen()
    expect(await list()).to.equal(400)
    expect(await readdir(join(site.path, 'data/files'))).to.deep.equal([])
    expect(await site.litter()).to.deep.equal([])
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
    expect(await readdir(join(site.path, 'data/tmp'))).to.deep.equal([])
  })

  it('is red without a customer, and says that the file is refused while others are served', async () => {
    await site.write('customers.yaml', 'customers: []\n')
    const admin = await start()
    expect((await admin.turnsRed())['customers']).to.include('no one can log in')
    await site.write('customers.yaml', customersYaml('demo', 'correct horse'))
    await admin.turnsGreen()
    await site.write('customers.yaml', 'nonsense')
    server.signal('SIGHUP')
    await server.logged('customers file refused')
    const { ready, checks } = await admin.ready()
    expect(ready).to.equal(true)
    expect(checks.at(-1)).to.include({ ok: true, count: 1 })
    expect(Date.parse(String(checks.at(-1)?.['refusedSince']))).to.be.at.most(Date.now())
  })

  it('is red when there is less room than there is to be', async () => {
    const admin = await start('--min-free-space', '1000TB')
    const { 'free space': why } = await admin.turnsRed()
    expect(why).to.match(/ are left, less than the 1\.00 PB of --min-free-space$/)
    await server.logged('not ready')
  })

  it('turns red first at SIGTERM, while the server serves on and uploads under way finish', async () => {
    const admin = await start('--shutdown-delay', '1h')
    await admin.turnsGreen()
    const upload = await openConnection(server.port)
    upload.write(uploadHead('a.txt', 10))
    upload.write('first')
    await until('the upload is under way', async () => (await site.litter()).length > 0)
    server.signal('SIGTERM')
    expect(await admin.turnsRed()).to.deep.equal({ serving: 'the server is stopping' })
    expect((await fetch(`${admin.url}/live`)).status).to.equal(200)
    upload.write('+last')
    await upload.saw('\r\n\r\nOK')
    expect(await list(), 'on a new connection').to.equal(200)
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
  })

  it('answers until the last request has finished', async () => {
    const admin = await start('--shutdown-delay', '1ms')
    await admin.turnsGreen()
    const upload = await openConnection(server.port)
    upload.write(uploadHead('a.txt', 10))
    upload.write('first')
    await until('the upload is under way', async () => (await site.litter()).length > 0)
    server.signal('SIGTERM')
    await server.logged('finishing the requests under way')
    expect(await admin.turnsRed()).to.deep.equal({ serving: 'the server is stopping' })
    upload.write('+last')
    await upload.closed
    expect(upload.received()).to.match(/^HTTP\/1.1 200 OK\r\n/)
    expect(await server.ended).to.equal(0)
    await server.logged('stopped')
  })

  it('answers for all workers, also when one was replaced, and turns red first at SIGTERM', async () => {
    const admin = await start('--workers', '2', '--shutdown-delay', '1h')
    await admin.turnsGreen()
    const { checks } = await admin.ready()
    expect(checks.map(({ name }) => name))
      .to.include('store')
      .and.include('workers')
    const [victim = 0] = await childrenOf(server.pid)
    process.kill(victim, 'SIGKILL')
    await server.logged('a worker ended unexpectedly')
    await until('both are there again', async () => {
      const workers = (await admin.ready()).checks.find(({ name }) => name === 'workers')
      return workers?.['count'] === 2
    })
    server.signal('SIGTERM')
    expect(await admin.turnsRed()).to.deep.equal({ serving: 'the server is stopping' })
    expect((await fetch(`${server.url}/ping`)).status).to.equal(200)
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
  })

  it('says what is wrong where it cannot listen there, before anything else is opened', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const port = String((other.address() as AddressInfo).port)
    const run = (...args: string[]) => runHoldfast(['serve', ...args], { cwd: site.path })
    const taken = await run('--port', '0', '--admin-port', port)
    const same = await run('--port', port, '--admin-port', port)
    other.close()
    expect([taken.code, same.code]).to.deep.equal([1, 1])
    expect(taken.stderr).to.equal(
      `holdfast: Cannot listen on 127.0.0.1 port ${port}: another program listens there. Stop it, or choose another --admin-port (0 takes any free one).\n`,
    )
    expect(same.stderr).to.equal(
      `holdfast: The ports for customers (--port) and for administration (--admin-port) are both ${port}; choose another one.\n`,
    )
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
  })
})
