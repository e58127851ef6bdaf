import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'

const other = { 'x-auth-name': 'other', 'x-auth-password': 'horse correct' }

describe('holdfast serve --max-requests', () => {
  let site: Site
  let server: HoldfastServer
  const uploads: Socket[] = []
  beforeEach(async () => {
    site = await createSite()
    await site.write(
      'customers.yaml',
      'customers:\n  - { name: demo, password: correct horse }\n  - { name: other, password: horse correct }\n',
    )
    server = await startHoldfast(['--max-requests', '3', '--max-requests-per-customer', '2'], {
      cwd: site.path,
    })
  })
  afterEach(async () => {
    for (const upload of uploads.splice(0)) upload.destroy()
    await server.kill()
    await site.remove()
  })

  const list = async (headers = credentials) => {
    const answer = await fetch(`${server.url}/list`, { headers })
    return [answer.status, ((await answer.json()) as { message: string }).message] as const
  }

  /** Uploads that do not end, each of which has a temporary file already. */
  const beginUploads = async (count: number, headers = credentials) => {
    const before = (await site.litter()).length
    const lines = Object.entries({ Host: 'a', ...headers, 'Content-Length': 2 ** 40 })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    for (let n = 0; n < count; n++) {
      const socket = connect(server.port, '127.0.0.1')
      await once(socket, 'connect')
      socket.on('error', () => {}).write(`PUT /upload/${n} HTTP/1.1\r\n${head}\r\nsome`)
      uploads.push(socket)
    }
    await until(
      () => `${count} uploads are under way`,
      async () => (await site.litter()).length === before + count,
    )
  }

  it('refuses what is more, of a customer and in all, and takes all again when some have ended', async () => {
    await beginUploads(2)
    expect(await list()).to.deep.equal([503, 'Overloaded'])
    expect(await list(other)).to.deep.equal([400, 'No files uploaded yet'])
    await beginUploads(1, other)
    expect(await list(other)).to.deep.equal([503, 'Overloaded'])
    expect(await (await fetch(`${server.url}/ping`)).text()).to.equal('pong')
    const isLogged = (reason: string) => server.lines().some((line) => line['reason'] === reason)
    await until('both reasons are logged', () =>
      ['2 requests of "demo" are under way already', '3 requests are under way already'].every(
        isLogged,
      ),
    )
    for (const upload of uploads) upload.destroy()
    await until(
      () => 'the slots are free',
      async () => (await site.litter()).length === 0 && (await list())[0] === 400,
    )
    await beginUploads(2)
  })
})
