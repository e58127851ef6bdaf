import {
  createSite,
  type HoldfastServer,
  openConnection,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'
import { statusesIn } from './statuses-in.ts'
import { deletion, vectors, type Vector } from './smuggling-vectors.ts'

const victim = { 'x-auth-name': 'victim', 'x-auth-password': 'battery staple' }
const customers =
  'customers: [{name: demo, password: correct horse}, {name: victim, password: battery staple}]\n'

const nameOf = (index: number) => `victim-${index}.txt`
const titles = vectors('').map(({ title }) => title)
const vectorOf = (index: number): Vector => {
  const vector = vectors(deletion(nameOf(index), victim))[index]
  if (vector === undefined) throw new RangeError(`There is no vector ${index}`)
  return vector
}

describe('a request that is hidden in another one', function () {
  this.timeout(60_000)
  let site: Site
  let server: HoldfastServer
  let outcomes: readonly string[]
  let remaining: readonly string[]

  before(async () => {
    site = await createSite()
    await site.write('customers.yaml', customers)
    const args = ['--idle-timeout', '1s', '--max-requests-per-customer', '1000']
    // Whatever Node.js is told, holdfast's parser is the strict one.
    const env = { NODE_OPTIONS: '--insecure-http-parser' }
    server = await startHoldfast(args, { cwd: site.path, env })
    for (const index of titles.keys()) await upload(nameOf(index))
    outcomes = await Promise.all(titles.map((_, index) => send(vectorOf(index))))
    const list = await fetch(`${server.url}/list`, { headers: victim })
    remaining = (await list.json()) as string[]
  })
  after(async () => {
    await server.kill()
    await site.remove()
    console.log(
      `figures: smuggling: ${titles.length} ways, ${titles.length - remaining.length} executed`,
    )
  })

  async function upload(name: string) {
    const init = { method: 'PUT', headers: victim, body: 'safe' }
    expect((await fetch(`${server.url}/upload/${name}`, init)).status).to.equal(200)
  }

  /** All that is answered until the server closes the connection. */
  async function send({ bytes }: Vector): Promise<string> {
    const connection = await openConnection(server.port)
    connection.socket.write(Buffer.from(bytes, 'latin1'))
    await connection.closed
    return connection.received()
  }

  for (const [index, title] of titles.entries()) {
    it(`is never executed: ${title}`, () => {
      expect(remaining).to.include(nameOf(index))
      const answers = statusesIn(outcomes[index] ?? '')
      expect(answers.join(' ')).to.match(vectorOf(index).statuses)
    })
  }

  it('is executed where it is a request of its own, so the tests can detect it', async () => {
    await upload('control.txt')
    const connection = await openConnection(server.port)
    connection.write('GET /ping HTTP/1.1\r\nHost: a\r\n\r\n' + deletion('control.txt', victim))
    await connection.closed
    expect(statusesIn(connection.received())).to.deep.equal([200, 200])
    const gone = await fetch(`${server.url}/serve/control.txt`, { headers: victim })
    expect(gone.status).to.equal(400)
  })

  it('is no fault of the server', () => {
    expect(server.lines().filter(({ level }) => Number(level) >= 50)).to.deep.equal([])
  })
})
