import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import {
  createSite,
  credentials,
  type HoldfastServer,
  runHoldfast,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { contentOf, digestOf } from './support/content.ts'

const MiB = 1024 ** 2

describeWithMinio('three holdfast servers on one bucket', (minio) => {
  let site: Site
  let bucket: string
  let servers: readonly HoldfastServer[] = []

  before(async () => {
    site = await createSite()
    bucket = await minio().createBucket()
    const env = minioEnvironment(minio(), bucket)
    const options = { cwd: site.path, env }
    servers = await Promise.all([1, 2, 3].map(() => startHoldfast([], options)))
  })

  after(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await site.remove()
  })

  it('list and serve at once what one of them has taken, new and replaced', async () => {
    for (const [round, size] of [5, 9 * MiB, 10, 0].entries()) {
      const content = contentOf(`round ${round}`, size)
      expect((await put(servers[round % 3], 'shared.bin', content)).status).to.equal(200)
      for (const server of servers) {
        expect(await (await ask(server, 'list')).json()).to.deep.equal(['shared.bin'])
        const served = await (await ask(server, 'serve/shared.bin')).bytes()
        expect(digestOf(served)).to.equal(digestOf(content))
      }
    }
  })

  it('have nothing any more of what one of them has deleted', async () => {
    const [first, second] = servers
    await put(first, 'gone.bin', Buffer.from('gone'))
    expect((await ask(second, 'delete/gone.bin', { method: 'DELETE' })).status).to.equal(200)
    for (const server of servers) {
      expect(await (await ask(server, 'serve/gone.bin')).json()).to.include({
        statusCode: 400,
        message: 'File not found',
      })
      expect(await (await ask(server, 'list')).json()).not.to.include('gone.bin')
    }
  })

  for (const [title, size] of [
    ['small', 1000],
    ['multipart', 9 * MiB],
  ] as const) {
    it(`let one of twenty ${title} create-only uploads win, whichever server each goes to`, async function () {
      this.timeout(60_000)
      const name = `${title}.bin`
      const contents = Array.from({ length: 20 }, (_, index) =>
        contentOf(`${title} ${index}`, size),
      )
      const answers = await Promise.all(
        contents.map((content, index) =>
          put(servers[index % 3], name, content, { 'if-none-match': '*' }),
        ),
      )
      const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []))
      expect(winners).to.have.length(1)
      expect(answers.filter(({ status }) => status === 412)).to.have.length(19)
      const winner = contents[winners[0] ?? -1] ?? Buffer.alloc(0)
      for (const server of servers) {
        const served = await (await ask(server, `serve/${name}`)).bytes()
        expect(digestOf(served)).to.equal(digestOf(winner))
      }
      await until('nothing is left of the others', async () => {
        return (await minio().unfinishedUploads(bucket)).length === 0
      })
    })
  }

  it('each take customers that are added, rotated and removed while they run', async () => {
    const edit = async (times: number, verb: string, password?: string) => {
      const args = ['customers', verb, 'late', ...(password ? ['--password-stdin'] : [])]
      const { code } = await runHoldfast(args, { cwd: site.path, input: `${password}\n` })
      expect(code).to.equal(0)
      // Trying until it works would be taken for guessing.
      await Promise.all(servers.map((server) => server.logged('customers reloaded', times)))
    }
    const messages = async (password: string) => {
      const headers = { 'x-auth-name': 'late', 'x-auth-password': password }
      const answers = await Promise.all(servers.map((server) => ask(server, 'list', { headers })))
      const errors = await Promise.all(answers.map((answer) => answer.json()))
      return (errors as { message: string }[]).map(({ message }) => message)
    }
    const [known, unknown] = ['No files uploaded yet', 'Invalid credentials']
    await edit(1, 'add', 'the first one')
    expect(await messages('the first one')).to.deep.equal([known, known, known])
    await edit(2, 'rotate', 'the second one')
    expect(await messages('the first one')).to.deep.equal([unknown, unknown, unknown])
    expect(await messages('the second one')).to.deep.equal([known, known, known])
    await edit(3, 'remove')
    expect(await messages('the second one')).to.deep.equal([unknown, unknown, unknown])
  })
})

function ask(server: HoldfastServer | undefined, path: string, init: RequestInit = {}) {
  return fetch(`${server?.url}/${path}`, { headers: credentials, ...init })
}

function put(
  server: HoldfastServer | undefined,
  name: string,
  body: Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return ask(server, `upload/${name}`, {
    method: 'PUT',
    body,
    headers: { ...credentials, ...headers },
  })
}
