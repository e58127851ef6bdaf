import { once } from 'node:events'
import { readdir, readFile, rename } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  childrenOf,
  credentials,
  customersYaml,
  type HoldfastServer,
  openConnection,
  runHoldfast,
  startHoldfastByShell,
  until,
  uploadHead,
  useHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

/** Has each request come on a connection of its own, which either worker may accept. */
const apart = { connection: 'close' }
const wrong = { ...credentials, 'x-auth-password': 'wrong' }

describe('holdfast serve --workers', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer

  const start = async (...args: string[]) => {
    server = await holdfast.start(['--workers', '2', ...args])
    return server
  }
  const send = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { headers: credentials, ...init })
  /** So many requests at once. */
  const many = <T>(count: number, request: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => request(n)))
  const put = async (name: string, size: number, headers = credentials) =>
    (await send(`/upload/${name}`, { method: 'PUT', headers, body: Buffer.alloc(size) })).status
  const pidsOf = (path: string) =>
    new Set(
      server
        .lines()
        .filter((line) => line['msg'] === 'request' && line['path'] === path)
        .map(({ pid }) => Number(pid)),
    )
  const workers = () => childrenOf(server.pid)
  const isGone = (pid: number) =>
    readFile(`/proc/${pid}/stat`, 'utf8').then(
      (stat) => stat.includes(') Z '),
      () => true,
    )

  it('serves from several processes on one port, says so once, and ends them all', async () => {
    await start()
    expect(await workers()).to.have.length(2)
    await until('both workers have answered', async () => {
      await many(16, () => send('/ping', { headers: apart }))
      return pidsOf('/ping').size === 2
    })
    const line = await server.logged('holdfast listens on')
    expect(line).to.include({ pid: server.pid, workers: 2, url: server.url })
    const pids = await workers()
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
    await server.logged('stopped')
    for (const pid of pids) expect(await isGone(pid), `worker ${pid}`).to.equal(true)
    const starts = server.lines().filter(({ msg }) => String(msg).startsWith('holdfast listens'))
    expect(starts).to.have.length(1)
    expect(await readdir(join(site.path, 'data/tmp'))).to.deep.equal([])
  })

  it('ends like one process where it cannot start, and leaves no worker', async () => {
    await start()
    const port = String(server.port)
    const refused = async (...args: string[]) =>
      runHoldfast(['serve', '--workers', '2', ...args], { cwd: site.path })
    const taken = await refused('--port', port)
    expect(taken.code).to.equal(1)
    expect(taken.stderr).to.equal(
      `holdfast: Cannot listen on 127.0.0.1 port ${port}: another program listens there. Stop it, or choose another --port (0 takes any free one).\n`,
    )
    const unreadable = await refused('--port', '0', '--customers', 'none.yaml')
    expect(unreadable.code).to.equal(1)
    expect(unreadable.stderr).to.match(/^holdfast: none\.yaml/)
    expect(await workers()).to.have.length(2)
  })

  it('never lets a customer pass the quota, and lets in exactly what fits', async () => {
    await site.write(
      'customers.yaml',
      `${customersYaml('demo', 'correct horse')}    quota: 10000\n`,
    )
    await start()
    const statuses = await many(40, (n) => put(`file ${n}`, 1000))
    expect(statuses.filter((status) => status === 200)).to.have.length(10)
    expect(statuses.filter((status) => status === 413)).to.have.length(30)
    const [name = ''] = (await (await send('/list')).json()) as string[]
    for (let round = 0; round < 10; round++) {
      expect(
        (await send(`/delete/${encodeURIComponent(name)}`, { method: 'DELETE' })).status,
      ).to.equal(200)
      expect(await put(name, 1000)).to.equal(200)
    }
    expect(await put('one more', 1)).to.equal(413)
    const unknown = new Blob(['x'.repeat(2000)]).stream()
    const streamed = { method: 'PUT', body: unknown, duplex: 'half' } as RequestInit
    expect((await send('/upload/streamed', streamed)).status).to.equal(413)
  })

  it('never lets a customer keep more files than the number, and lets in exactly so many', async () => {
    await site.write(
      'customers.yaml',
      `${customersYaml('demo', 'correct horse')}    maxFiles: 10\n`,
    )
    await start()
    const statuses = await many(40, (n) => put(`file ${n}`, 0))
    expect(statuses.filter((status) => status === 200)).to.have.length(10)
    expect(statuses.filter((status) => status === 413)).to.have.length(30)
    const [name = ''] = (await (await send('/list')).json()) as string[]
    expect(await put(name, 1000)).to.equal(200)
    expect(
      (await send(`/delete/${encodeURIComponent(name)}`, { method: 'DELETE' })).status,
    ).to.equal(200)
    expect(await put('one more', 0)).to.equal(200)
    expect(await put('and one more', 0)).to.equal(413)
  })

  it('never takes more files by a link than its maker says, and takes exactly so many', async () => {
    await start()
    const body = JSON.stringify({ verb: 'upload', prefix: true, maxFiles: 10 })
    const made = await send('/link/in-', { method: 'POST', body })
    const { url } = (await made.json()) as { readonly url: string }
    const statuses = await many(40, async (n) => {
      const named = url.replace('in-?', `in-${n}?`)
      while (true) {
        const answer = await fetch(named, { method: 'PUT', body: `${n}`, headers: apart })
        // Each worker has a few of a link's uploads under way at a time.
        if (answer.status !== 503) return answer.status
        await delay(20)
      }
    })
    expect(statuses.filter((status) => status === 200)).to.have.length(10)
    expect(statuses.filter((status) => status === 413)).to.have.length(30)
    expect(await (await send('/list')).json()).to.have.length(10)
  })

  it('computes ten hashes for a thousand guesses at a name, and then holds its brake everywhere', async () => {
    await start()
    expect((await send('/list')).status).to.equal(400)
    const statuses: number[] = []
    for (let round = 0; round < 4; round++) {
      const headers = { ...wrong, ...apart }
      const answers = await many(250, async () => (await send('/list', { headers })).status)
      statuses.push(...answers)
    }
    expect(statuses.filter((status) => status === 400)).to.have.length(10)
    // Too many of one address wait.
    expect(statuses.filter((status) => status === 429 || status === 503)).to.have.length(990)
    expect(pidsOf('/list').size, 'workers').to.equal(2)
    const right = await many(32, async () => (await send('/list')).status)
    expect(new Set(right)).to.deep.equal(new Set([429]))
  })

  it('takes new customers in all workers, and says so once', async () => {
    await start()
    await site.write('customers.yaml', customersYaml('bob', 'another'))
    server.signal('SIGHUP')
    await server.logged('customers reloaded')
    const bob = { 'x-auth-name': 'bob', 'x-auth-password': 'another' }
    const texts = await many(16, async () => (await send('/list', { headers: bob })).text())
    for (const text of texts) expect(text).to.include('No files uploaded yet')
    expect(server.lines().filter(({ msg }) => msg === 'customers reloaded')).to.have.length(1)
  })

  it('holds limits of requests for all workers together', async () => {
    await start('--max-requests-per-customer', '4')
    const uploads = await many(4, async (n) => {
      const upload = await openConnection(server.port)
      upload.write(uploadHead(`slow ${n}`.replace(' ', '-'), 10))
      upload.write('first')
      return upload
    })
    await until('four are under way', async () => (await site.litter()).length === 4)
    await until('every worker knows', async () => {
      const statuses = await many(12, async () => (await send('/list')).status)
      return statuses.every((status) => status === 503)
    })
    for (const upload of uploads) upload.write('rest.')
    await until('they are free', async () => (await send('/list')).status === 200)
  })

  it('goes on when a worker is killed, replaces it, and gives back what it had reserved', async () => {
    await site.write(
      'customers.yaml',
      `${customersYaml('demo', 'correct horse')}    quota: 10000\n`,
    )
    await start()
    const reserving = await openConnection(server.port)
    reserving.write(uploadHead('reserved', 10_000))
    reserving.write('some')
    await until('the room is reserved', async () => (await site.litter()).length === 1)
    expect(await put('a', 1)).to.equal(413)
    const [owner = ''] = (await readdir(join(site.path, 'data/tmp'), { recursive: true })).filter(
      (entry) => entry.includes('/'),
    )
    const victim = Number(owner.split('-')[0])
    const before = await workers()
    expect(before).to.include(victim)
    process.kill(victim, 'SIGKILL')
    await server.logged('a worker ended unexpectedly')
    await until('the room is free again', async () => (await put('a', 10_000)) === 200)
    await until('there are two workers again', async () => {
      const connection = await openConnection(server.port)
      connection.write('GET /ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      await connection.closed
      return [...pidsOf('/ping')].some((pid) => !before.includes(pid))
    })
    const after = await workers()
    expect(after).to.have.length(2)
    expect(after).not.to.include(victim)
    expect(await (await send('/list')).json()).to.deep.equal(['a'])
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
  })

  it('serves on the same port again when all workers are killed at once', async function () {
    this.timeout(180_000)
    await start()
    const before = await workers()
    expect(before).to.have.length(2)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await until('they are gone', async () => (await Promise.all(before.map(isGone))).every(Boolean))
    const hasTwo = async () => {
      await many(4, () => send('/ping', { headers: apart }).catch(() => {}))
      return pidsOf('/ping').size >= 2
    }
    await until('two others answer', hasTwo, 120_000)
  })

  it('goes on with the others while a worker cannot be started, and starts it later', async function () {
    this.timeout(180_000)
    const script = `cp "$HOLDFAST_NODE" node; HOLDFAST_NODE=$PWD/node
      holdfast serve --port 0 --workers 2`
    server = await startHoldfastByShell(script, { cwd: site.path })
    try {
      const before = await workers()
      expect(before).to.have.length(2)
      const program = join(site.path, 'node')
      await rename(program, `${program}.away`)
      process.kill(before[0] ?? 0, 'SIGKILL')
      await server.logged('a worker cannot start')
      expect(await (await send('/ping')).text()).to.equal('pong')
      await rename(`${program}.away`, program)
      await until(
        'there are two workers again',
        async () => (await workers()).length === 2,
        120_000,
      )
      server.signal('SIGTERM')
      expect(await server.ended).to.equal(0)
    } finally {
      await server.kill()
    }
  })

  it('lets requests under way finish in every worker, and cuts them at a second signal', async () => {
    await start('--shutdown-grace', '1h')
    const uploads = await many(6, async (n) => {
      const upload = await openConnection(server.port)
      upload.write(uploadHead(`file-${n}`, 10))
      upload.write('first')
      return upload
    })
    await until('all are under way', async () => (await site.litter()).length === 6)
    server.signal('SIGTERM')
    await server.logged('finishing the requests under way')
    uploads.slice(0, 5).forEach((upload) => upload.write('rest.'))
    const files = join(site.path, 'data/files/demo')
    await until('five are stored', async () => (await readdir(files).catch(() => [])).length === 5)
    server.signal('SIGINT')
    expect(await server.ended).to.equal(0)
    await server.logged('stopped; requests that had not finished were cut off')
    expect(await readdir(files)).to.have.length(5)
  })

  it('kills a suspended worker that does not end at a second signal', async () => {
    await start()
    const pids = await workers()
    expect(pids).to.have.length(2)
    process.kill(pids[0] ?? 0, 'SIGSTOP')
    server.signal('SIGTERM')
    await server.logged('finishing the requests under way')
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
    await server.logged('stopped; requests that had not finished were cut off')
    for (const pid of pids) expect(await isGone(pid), `worker ${pid}`).to.equal(true)
  })

  it('takes customers that change while it starts', async () => {
    const silent = createServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const args = `--store minio --minio-endpoint http://127.0.0.1:${port} --minio-bucket b`
    const starting = runHoldfast(['serve', '--port', '0', '--workers', '2', ...args.split(' ')], {
      cwd: site.path,
      env: { HOLDFAST_MINIO_ACCESS_KEY: 'a', HOLDFAST_MINIO_SECRET_KEY: 'secret-key' },
    })
    const [socket] = (await once(silent, 'connection')) as [Socket]
    await site.write('customers.yaml', customersYaml('other', 'correct horse'))
    // The file is read again every second.
    await delay(3_000)
    silent.close()
    socket.destroy()
    const { code, stdout, stderr } = await starting
    expect(stdout).to.include('customers reloaded')
    expect(stderr)
      .to.match(/^holdfast: .*MinIO.*/)
      .and.not.to.include('before initialization')
    expect(code).to.equal(1)
  })

  it('ends its workers when it is killed itself', async () => {
    await start()
    const pids = await workers()
    await server.kill()
    await until('the workers are gone', async () =>
      (await Promise.all(pids.map(isGone))).every(Boolean),
    )
  })
})
