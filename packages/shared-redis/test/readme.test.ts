import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort, readmeExamples, until, withExample } from '@holdfast/testing'
import { startRedis, type RunningRedis } from '@holdfast/testing/redis'
import { expect } from 'chai'

/** A package that has all packages of the examples. */
const tests = join(import.meta.dirname, '../../server/test')

const customers = 'customers: [{ name: alice, password: open sesame, quota: 1000 }]'

describe('The README of @holdfast/shared-redis', () => {
  let redis: RunningRedis
  let cwd: string
  beforeEach(async () => {
    redis = await startRedis()
    cwd = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
  })
  afterEach(async () => {
    await redis.stop()
    await rm(cwd, { recursive: true })
  })

  /** The example below a heading, with the engine of this test. */
  const exampleOf = async (title: string) => {
    const [example = ''] = await readmeExamples(import.meta.dirname, title)
    expect(example).to.include("'redis://127.0.0.1:6379'")
    return example.replace("'redis://127.0.0.1:6379'", JSON.stringify(redis.url))
  }
  const outputOf = (example: string) =>
    withExample(tests, example, async (file) => {
      return (await promisify(execFile)(process.execPath, [file], { cwd })).stdout
    })

  it('shows how to share quotas', async () => {
    expect(await outputOf(await exampleOf('Share quotas'))).to.equal('1 count together\n')
  })

  it('shows a script that runs', async () => {
    expect(await outputOf(await exampleOf('A script of your own'))).to.equal('1 of 1\n')
  })

  it('shows a server, several of which count as one', async () => {
    await writeFile(join(cwd, 'customers.yaml'), customers, { mode: 0o600 })
    const example = await exampleOf('Share everything')
    expect(example).to.include('listen(3000)')
    await withServer(example, cwd, (one) =>
      withServer(example, cwd, async (two) => {
        expect(await put(one, 'a', 600)).to.equal(200)
        expect(await put(two, 'b', 600)).to.equal(413)
        expect(await put(two, 'c', 400)).to.equal(200)
        expect(await uploadByLink(one, two)).to.deep.equal([200, 413])
        const guesses: number[] = []
        for (let nth = 0; nth < 11; nth++) {
          guesses.push(await list(nth % 2 === 0 ? one : two, `guess ${nth}`))
        }
        expect(guesses).to.deep.equal([...Array.from({ length: 10 }, () => 400), 429])
      }),
    )
  })
})

/** Runs a server in a process of its own for the duration of `visit`. */
async function withServer(
  example: string,
  cwd: string,
  visit: (url: string) => Promise<void>,
): Promise<void> {
  const port = await findFreePort()
  await withExample(tests, example.replace('listen(3000)', `listen(${port})`), async (file) => {
    const child = spawn(process.execPath, [file], { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
    const closed = once(child, 'close')
    const url = `http://127.0.0.1:${port}`
    try {
      await until('the server answers', () =>
        fetch(`${url}/ping`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      await visit(url)
    } finally {
      child.kill()
      await closed
    }
  })
}

const login = (password = 'open sesame') => ({
  'x-auth-name': 'alice',
  'x-auth-password': password,
})

async function put(url: string, name: string, bytes: number): Promise<number> {
  const body = Buffer.alloc(bytes)
  const sent = await fetch(`${url}/upload/${name}`, { method: 'PUT', headers: login(), body })
  await sent.body?.cancel()
  return sent.status
}

async function list(url: string, password: string): Promise<number> {
  const sent = await fetch(`${url}/list`, { headers: login(password) })
  await sent.body?.cancel()
  return sent.status
}

/** Uploads two files by a link for one, through a server each. */
async function uploadByLink(one: string, two: string): Promise<readonly number[]> {
  const body = JSON.stringify({ verb: 'upload', prefix: true, maxFiles: 1 })
  const made = await fetch(`${one}/link/from-`, { method: 'POST', headers: login(), body })
  const { url } = (await made.json()) as { readonly url: string }
  const link = new URL(url)
  const statuses: number[] = []
  for (const server of [one, two]) {
    const target = new URL(`${link.pathname}${statuses.length}${link.search}`, server)
    const sent = await fetch(target, { method: 'PUT', body: '' })
    await sent.body?.cancel()
    statuses.push(sent.status)
  }
  return statuses
}
