import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  credentials,
  customersYaml,
  type HoldfastServer,
  openConnection,
  runHoldfast,
  until,
  uploadHead,
  useHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve', () => {
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer | undefined

  const start = async (args: readonly string[] = [], env: Record<string, string> = {}) => {
    server = await holdfast.start(args, { env })
    return server
  }

  const list = (url: string, name: string, password: string) =>
    fetch(`${url}/list`, { headers: { 'x-auth-name': name, 'x-auth-password': password } })

  const isCustomer = async (url: string, name: string, password: string) =>
    ((await (await list(url, name, password)).json()) as { message: string }).message ===
    'No files uploaded yet'

  it('takes its settings from the environment and from a file', async () => {
    const config = await site.write(
      'h.yaml',
      'data: ./elsewhere\nmax-file-size: 5\nlog-level: warn\n',
    )
    const { url } = await start([], {
      HOLDFAST_CONFIG: config,
      HOLDFAST_LOG_LEVEL: 'info',
      HOLDFAST_SOMETHING_ELSE: 'ignored',
    })
    const put = (name: string, body: string) =>
      fetch(`${url}/upload/${name}`, { method: 'PUT', headers: credentials, body })
    expect((await put('small', '12345')).status).to.equal(200)
    expect((await put('large', '123456')).status).to.equal(413)
    expect(await readdir(join(site.path, 'elsewhere/files/demo'))).to.deep.equal(['small'])
  })

  it('listens at the address that is set', async () => {
    const { url } = await start(['--host', '::1'])
    expect(url).to.match(/^http:\/\/\[::1\]:\d+$/)
    expect(await (await fetch(`${url}/ping`)).text()).to.equal('pong')
  })

  it('has threads enough for passwords and files at once, unless the number is set', async () => {
    const threads = async (env: Record<string, string>) => {
      const running = await holdfast.start([], { env })
      try {
        return (await readdir(`/proc/${running.pid}/task`)).length
      } finally {
        await running.kill()
      }
    }
    const more = (await threads({})) - (await threads({ UV_THREADPOOL_SIZE: '2' }))
    expect(more).to.equal(14)
  })

  describe('log', () => {
    it('has one line for each request, with the id that the client got', async () => {
      const running = await start()
      const paths = ['/ping', '/list', '/serve/none', '/nowhere']
      const answers = await Promise.all(
        paths.map((path) => fetch(running.url + path, { headers: credentials })),
      )
      await running.logged('request', paths.length)
      const requests = running.lines().filter(({ msg }) => msg === 'request')
      expect(requests).to.have.length(paths.length)
      for (const [index, answer] of answers.entries()) {
        const line = requests.find(({ path }) => path === paths[index])
        expect(line).to.include({ method: 'GET', status: answer.status, address: '127.0.0.1' })
        expect(line?.['requestId']).to.equal(answer.headers.get('x-request-id'))
      }
      expect(requests.find(({ path }) => path === '/serve/none')).to.include({
        customer: 'demo',
        reason: 'File not found',
      })
    })

    it('consists of JSON lines only', async () => {
      const running = await start(['--log-level', 'trace'])
      await fetch(`${running.url}/ping`)
      await running.logged('request')
      for (const line of running.output().trim().split('\n')) {
        expect(() => JSON.parse(line) as unknown, line).not.to.throw()
      }
    })

    it('never has a password, wherever it was put and whatever came of it', async () => {
      const secret = 'S3cret-of-demo'
      const wrong = 'Wr0ng-guess'
      await site.write('customers.yaml', customersYaml('demo', secret))
      const running = await start(['--log-level', 'trace'])
      const { url, port } = running
      await list(url, 'demo', secret)
      await list(url, 'demo', wrong)
      await list(url, 'nobody', wrong)
      await fetch(`${url}/list?x-auth-password=${secret}`, {
        headers: { authorization: `Basic ${wrong}` },
      })
      await fetch(`${url}/list`, {
        headers: { cookie: secret, referer: `http://x/${wrong}`, 'x-request-id': `"${secret}"` },
      })
      const raw = async (text: string) => {
        const connection = await openConnection(port)
        connection.socket.end(text)
        await connection.closed
      }
      await raw(`GET http://demo:${secret}@host/list HTTP/1.1\r\nHost: x\r\n\r\n`)
      await raw(
        `GET /list HTTP/1.1\r\nHost: x\r\nx-auth-password: ${secret}\r\nbroken header ${wrong}\r\n\r\n`,
      )
      await raw(
        `GET /list HTTP/1.1\r\nHost: x\r\nx-auth-name: demo\r\nx-auth-password: ${secret}\r\nx-auth-password: ${wrong}\r\n\r\n`,
      )
      await raw(uploadHead('a', 10).replace('correct horse', secret) + wrong.slice(0, 5))
      await site.write(
        'customers.yaml',
        `customers:\n  - name: demo\n    password: ${secret}\n    x: ${wrong}\n`,
      )
      running.signal('SIGHUP')
      await running.logged('customers file refused')
      running.signal('SIGTERM')
      await running.ended
      expect(running.lines().filter(({ msg }) => msg === 'request')).to.have.length.of.at.least(7)
      expect(running.output()).not.to.include(secret)
      expect(running.output()).not.to.include(wrong)
    })
  })

  describe('customers', () => {
    it('are those of the commands within moments, without a restart', async () => {
      const running = await start()
      const { url } = running
      const edit = async (...args: string[]) => {
        const { stdout } = await runHoldfast(['customers', ...args, 'alice'], { cwd: site.path })
        return stdout.trim()
      }
      const first = await edit('add')
      expect(await running.logged('customers reloaded', 1)).to.deep.include({ added: ['alice'] })
      expect(await isCustomer(url, 'alice', first)).to.equal(true)
      const second = await edit('rotate')
      expect(await running.logged('customers reloaded', 2)).to.deep.include({ changed: ['alice'] })
      expect(await isCustomer(url, 'alice', second)).to.equal(true)
      expect(await isCustomer(url, 'alice', first)).to.equal(false)
      await edit('remove')
      expect(await running.logged('customers reloaded', 3)).to.deep.include({ removed: ['alice'] })
      expect(await isCustomer(url, 'alice', second)).to.equal(false)
    })

    it('are read again at SIGHUP, which the log says', async () => {
      const running = await start()
      await writeFile(join(site.path, 'next.yaml'), customersYaml('bob', 'p'), { mode: 0o600 })
      await rename(join(site.path, 'next.yaml'), join(site.path, 'customers.yaml'))
      running.signal('SIGHUP')
      expect(await running.logged('customers reloaded')).to.deep.include({
        added: ['bob'],
        removed: ['demo'],
        customers: 1,
      })
      expect(await isCustomer(running.url, 'bob', 'p')).to.equal(true)
    })

    it('stay as they were when the new file is wrong, which the log says', async () => {
      const running = await start()
      await site.write('customers.yaml', 'customers:\n  - nmae: bob\n')
      running.signal('SIGHUP')
      const line = await running.logged('customers file refused; the earlier customers stay in use')
      expect(line['level']).to.equal(50)
      expect(line['reason']).to.include('customers.yaml:2')
      const { 'x-auth-name': name, 'x-auth-password': password } = credentials
      expect(await isCustomer(running.url, name, password)).to.equal(true)
    })

    it('are missed aloud when there are none', async () => {
      await site.write('customers.yaml', 'customers: []\n')
      const line = await (await start()).logged('./customers.yaml has no customers')
      expect(line).to.include({ level: 40 })
      expect(line['msg']).to.include('holdfast customers add NAME')
    })
  })

  describe('--idle-timeout', () => {
    const form = [
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nfirst',
      ['Content-Type: multipart/form-data; boundary=b'],
    ] as const
    for (const [kind, method, body, headers] of [
      ['raw upload', 'PUT /upload/a.txt', 'first', []],
      ['form', 'POST /upload', ...form],
      ['batch', 'POST /upload/batch', ...form],
    ] as const) {
      it(`cuts a ${kind} that stalls, and leaves nothing of it`, async () => {
        const { port } = await start(['--idle-timeout', '300ms'])
        const upload = await openConnection(port)
        upload.write(uploadHead('a.txt', 1000, headers).replace('PUT /upload/a.txt', method))
        upload.write(body)
        await until('the upload is under way', async () => (await site.litter()).length > 0)
        await upload.closed
        expect(upload.received()).to.match(/^HTTP\/1.1 408 /)
        expect(upload.received()).to.include('"statusCode":408')
        await until('nothing is left', async () => (await site.litter()).length === 0)
      })
    }

    it('lets an upload pass that is slow and does not stall', async () => {
      const { port } = await start(['--idle-timeout', '500ms'])
      const upload = await openConnection(port)
      const begin = performance.now()
      const drips = 15
      upload.write(uploadHead('a.txt', drips))
      await new Promise<void>((resolve) => {
        let sent = 0
        const timer = setInterval(() => {
          upload.write('.')
          if (++sent < drips) return
          clearInterval(timer)
          resolve()
        }, 100)
      })
      await upload.saw('\r\n\r\nOK')
      expect(performance.now() - begin).to.be.greaterThan(1_400)
      upload.socket.destroy()
    })
  })
})
