import { readdir, rename, rm, symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import {
  credentials,
  type HoldfastServer,
  runHoldfast,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createAuditedSite, trailName, upload, type AuditedSite } from './audited-site.ts'

describe('holdfast serve --audit-log', () => {
  let site: AuditedSite
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    site = await createAuditedSite()
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
    await site.remove()
  })

  const start = async (args: readonly string[] = []) => {
    const server = await site.start(args)
    servers.push(server)
    return server
  }

  it('writes a line for each upload, deletion and refused login, with the id that the client got', async () => {
    const { url } = await start(['--trust-proxy', '127.0.0.1'])
    const ask = async (method: string, path: string, headers = {}, body?: string | FormData) => {
      const forwarded = { 'x-forwarded-for': '203.0.113.9' }
      const init = { method, headers: { ...credentials, ...forwarded, ...headers } }
      const answer = await fetch(url + path, body === undefined ? init : { ...init, body })
      await answer.text()
      return answer.headers.get('x-request-id')
    }
    const form = new FormData()
    form.append('file', new Blob(['123']), '"\u2028"')
    const ids = [
      await ask('PUT', '/upload/a%E2%82%AC', {}, '12345'),
      await ask('POST', '/upload', {}, form),
      await ask('PUT', '/upload/b', { 'if-none-match': '"x"' }, '1'),
      await ask('DELETE', '/delete/a%E2%82%AC'),
      await ask('DELETE', '/delete/a%E2%82%AC'),
      await ask('GET', '/list', { 'x-auth-name': '{"a":1}', 'x-auth-password': 'swordfish' }),
    ]
    const lines = await site.trail()
    const told = (
      event: string,
      reason: string | null,
      file: string | null,
      bytes: number | null,
    ) => ({
      event,
      outcome: reason === null ? 'ok' : 'refused',
      reason,
      customer: 'demo',
      file,
      bytes,
      address: '203.0.113.9',
    })
    expect(lines.map(({ time: _time, requestId: _requestId, ...rest }) => rest)).to.deep.equal([
      told('upload', null, 'a€', 5),
      told('upload', null, '"\u2028"', 3),
      told('upload', 'invalid-header', 'b', null),
      told('delete', null, 'a€', null),
      told('delete', 'not-found', 'a€', null),
      { ...told('login', 'invalid-credentials', null, null), customer: '{"a":1}' },
    ])
    expect(lines.map(({ requestId }) => requestId)).to.deep.equal(ids)
    for (const { time } of lines)
      expect(String(time)).to.match(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
    const text = JSON.stringify(lines)
    for (const secret of ['swordfish', credentials['x-auth-password']])
      expect(text).not.to.include(secret)
  })

  it('has a whole line for each of 1,000 uploads through two servers that share the file', async () => {
    const urls = [(await start()).url, (await start(['--data', 'data'])).url]
    const ids = Array.from({ length: 1000 }, (_, index) => `upload-${index}`)
    const queue = [...ids.entries()]
    const client = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const [index, id] = next
        expect(await upload(urls[index % 2] ?? '', `file-${index % 50}`, id)).to.equal('OK')
      }
    }
    await Promise.all(Array.from({ length: 32 }, client))
    const lines = await site.trail()
    expect(lines.map(({ requestId }) => requestId)).to.have.members(ids)
    expect(new Set(lines.map(({ outcome }) => outcome))).to.deep.equal(new Set(['ok']))
  })

  it('loses no line when the file is renamed, truncated or removed, with SIGHUP and without', async () => {
    const server = await start()
    const path = join(site.path, trailName)
    const idsIn = async (file: string) => (await site.trail(file)).map(({ requestId }) => requestId)
    await upload(server.url, 'a', 'before')
    await rename(path, `${path}.1`)
    await upload(server.url, 'a', 'renamed')
    await rename(path, `${path}.2`)
    server.signal('SIGHUP')
    await until('there is a new file', () =>
      idsIn(trailName).then(
        () => true,
        () => false,
      ),
    )
    await upload(server.url, 'a', 'signalled')
    expect(await idsIn(`${trailName}.1`)).to.deep.equal(['before'])
    expect(await idsIn(`${trailName}.2`)).to.deep.equal(['renamed'])
    expect(await idsIn(trailName)).to.deep.equal(['signalled'])
    await truncate(path)
    await upload(server.url, 'a', 'truncated')
    expect(await idsIn(trailName)).to.deep.equal(['truncated'])
    await rm(path)
    await upload(server.url, 'a', 'removed')
    expect(await idsIn(trailName)).to.deep.equal(['removed'])
  })

  it('serves on when it cannot be written, says so once, and says later how much is missing', async () => {
    const path = join(site.path, trailName)
    await symlink('/dev/full', path)
    const server = await start()
    for (const id of ['1', '2', '3']) expect(await upload(server.url, 'a', id)).to.equal('OK')
    const complaint = await server.logged('The audit trail cannot be written')
    expect(complaint).to.include({ level: 50, lost: 1 })
    await rm(path)
    expect(await upload(server.url, 'a', '4')).to.equal('OK')
    const [omission, line] = await site.trail()
    expect(omission).to.include({ event: 'omitted', reason: 'unwritable', count: 3 })
    expect(line).to.include({ requestId: '4' })
    expect(await server.logged('The audit trail is written again')).to.include({ lost: 3 })
    const isComplaint = ({ msg }: { readonly msg?: unknown }) =>
      String(msg).includes('cannot be written')
    expect(server.lines().filter(isComplaint)).to.have.length(1)
  })

  it('cannot be filled by strangers: what costs them nothing has 100 lines a minute, and a count', async () => {
    const server = await start()
    const flood = async () => {
      for (let count = 0; count < 50; count++) await (await fetch(`${server.url}/list`)).text()
    }
    await Promise.all(Array.from({ length: 8 }, flood))
    const headers = { ...credentials, 'x-auth-password': 'wrong' }
    await (await fetch(`${server.url}/list`, { headers })).text()
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
    const lines = await site.trail()
    const reasons = lines.map(({ reason }) => reason)
    // A minute may have ended in between.
    const omissions = lines.filter(({ event }) => event === 'omitted')
    const omitted = omissions.reduce((sum, { count }) => sum + Number(count), 0)
    const free = reasons.filter((reason) => reason === 'missing-credentials').length
    expect(free).to.be.within(100, 200)
    expect(free + omitted).to.equal(400)
    expect(reasons).to.include('invalid-credentials')
  })

  it('goes to standard output for -, between the lines of the log', async () => {
    const server = await start(['--audit-log', '-'])
    await upload(server.url, 'a', 'to-stdout')
    const line = server.lines().find(({ event }) => event === 'upload')
    expect(line).to.include({ outcome: 'ok', requestId: 'to-stdout', bytes: 1 })
  })

  it('goes to standard error for /dev/stderr, a stream of its own', async () => {
    const server = await start(['--audit-log', '/dev/stderr'])
    await upload(server.url, 'a', 'to-stderr')
    await until('it came', () => server.output().includes('"event":"upload"'))
  })

  for (const [title, path, remedy] of [
    ['a directory is missing', 'missing/audit.jsonl', 'make its directory first'],
    ['it is a directory', '.', 'name a file in that directory'],
  ] as const) {
    it(`is refused at the start when ${title}`, async () => {
      const args = ['serve', '--port', '0', '--audit-log', path]
      const { code, stderr } = await runHoldfast(args, { cwd: site.path })
      expect(stderr)
        .to.match(/^holdfast: The audit trail /)
        .and.to.include(remedy)
      expect(code).to.equal(1)
    })
  }

  it('is off without the flag', async () => {
    const server = await startHoldfast([], { cwd: site.path })
    servers.push(server)
    await upload(server.url, 'a', 'none')
    expect(await readdir(site.path)).to.have.members(['customers.yaml', 'data'])
    expect(server.output()).not.to.include('"event"')
  })
})
