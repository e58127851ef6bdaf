import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { runOnTerminal } from '../terminal/support/run-on-terminal.ts'
import { useServer } from './support/use-server.ts'

describe('holdfast rm', function () {
  this.timeout(120_000)
  const server = useServer()
  const rm = (...args: readonly string[]) => server.holdfast(['rm', ...args])
  const left = async () => {
    const names: string[] = []
    for await (const name of server.client.list()) names.push(name)
    return names
  }
  beforeEach(async () => {
    for (const name of ['a.txt', 'b.txt', 'c.jpg', '[ab].txt', '-rf']) {
      await server.client.upload(name, name)
    }
  })
  afterEach(() => server.empty())

  it('deletes the files that are named', async () => {
    expect(await rm('a.txt', '--', '-rf')).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'Deleted a.txt\nDeleted -rf\n',
    })
    expect(await left()).to.deep.equal(['[ab].txt', 'b.txt', 'c.jpg'])
  })

  it('deletes what matches a pattern, and ends with 4 if one matches nothing', async () => {
    const { code, stdout, stderr } = await rm('--json', '?.txt', '*.png')
    const lines = stdout.split('\n').slice(0, -1)
    expect({ code, stderr }).to.deep.equal({ code: 4, stderr: '' })
    expect(lines.map((line) => JSON.parse(line) as object)).to.have.deep.members([
      { name: 'a.txt', deleted: true },
      { name: 'b.txt', deleted: true },
      { name: '*.png', error: { code: 'not-found', message: 'No file matches.' } },
    ])
    expect(await left()).to.deep.equal(['-rf', '[ab].txt', 'c.jpg'])
  })

  it('takes a pattern that is the name of a file for that name', async () => {
    expect((await rm('[ab].txt')).code).to.equal(0)
    expect(await left()).to.deep.equal(['-rf', 'a.txt', 'b.txt', 'c.jpg'])
    expect((await rm('--literal', '*')).code).to.equal(4)
    expect(await left()).to.have.length(4)
  })

  it('only shows what it would delete with --dry-run', async () => {
    expect(await rm('-n', '?.txt')).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'Would delete a.txt\nWould delete b.txt\n',
    })
    const { stdout } = await rm('--dry-run', '--json', 'a.txt')
    expect(JSON.parse(stdout)).to.deep.equal({ name: 'a.txt', deleted: false })
    expect((await rm('--dry-run', 'missing-*')).code).to.equal(4)
    expect(await left()).to.have.length(5)
  })

  it('asks on a terminal before it deletes more than ten files', async () => {
    for (let index = 0; index < 11; index++) await server.client.upload(`many ${index}`, 'x')
    const question = 'Delete 11 files? [y/N] '
    const onTerminal = (args: readonly string[], answers: readonly (readonly [string, string])[]) =>
      runOnTerminal(['rm', ...args], answers, { cwd: server.path, env: server.env })
    const refused = await onTerminal(['many *'], [[question, '\r']])
    expect(refused.code).to.equal(1)
    expect(refused.shown).to.include('Nothing was deleted.')
    expect(await left()).to.have.length(16)
    const interrupted = await onTerminal(['many *'], [[question, '\u0003']])
    expect(interrupted.code).to.equal(130)
    expect(interrupted.shown).to.include('Stopped by SIGINT.')
    expect(await left()).to.have.length(16)
    expect((await onTerminal(['many *'], [[question, 'y\r']])).code).to.equal(0)
    expect(await left()).to.have.length(5)
    const few = await onTerminal(['*.txt'], [])
    expect(few.code).to.equal(0)
    expect(few.shown).to.not.include('?')
  })

  it('asks nothing with --force, and nothing where no one can answer', async () => {
    const store = async () => {
      for (let index = 0; index < 11; index++) await server.client.upload(`many ${index}`, 'x')
    }
    await store()
    const { code, shown } = await runOnTerminal(['rm', '--force', 'many *'], [], {
      cwd: server.path,
      env: server.env,
    })
    expect(code).to.equal(0)
    expect(shown).to.not.include('?')
    await store()
    expect((await rm('many *')).code).to.equal(0)
    expect(await left()).to.have.length(5)
  })

  it('deletes the others where one is not there', async () => {
    expect(await rm('x', 'a.txt')).to.deep.include({ code: 4 })
    expect(await left()).not.to.include('a.txt')
  })

  it('deletes nothing without a name', async () => {
    expect((await rm()).code).to.equal(2)
    expect((await rm('-rf', 'a.txt')).code).to.equal(2)
    expect(await left()).to.have.length(5)
  })

  it('deletes many files by one request, and reports each', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `many ${index + 100}`)
    await using answering = await startAnswering((asked) => asked.map(ok))
    const { code, stderr } = await server.holdfast(['rm', ...names], answering.options)
    expect([code, stderr]).to.deep.equal([0, names.map((name) => `Deleted ${name}\n`).join('')])
    expect(answering.asked).to.deep.equal([names])
  })

  it('reports what the server could not delete, and what has no answer', async () => {
    const fault = { statusCode: 500, error: 'x', message: 'An unexpected error occurred' }
    await using answering = await startAnswering(([first = '', second]) => [
      ok(first),
      { filename: second, ...fault },
      fault,
    ])
    const { code, stderr } = await server.holdfast(['rm', 'a', 'b', 'c', 'd'], answering.options)
    expect(code).to.equal(1)
    expect(stderr.split('\n')).to.deep.equal([
      'Deleted a',
      'holdfast: b: An unexpected error occurred',
      'holdfast: c: An unexpected error occurred',
      'holdfast: d: An unexpected error occurred',
      '',
    ])
  })
})

const ok = (filename: string) => ({ filename, statusCode: 200, message: 'OK' })

/** A server that answers deletions with these lines; `asked` has the names of each request. */
async function startAnswering(answer: (names: readonly string[]) => readonly object[]) {
  const asked: string[][] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const names = JSON.parse(body) as string[]
      asked.push(names)
      response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8')
      response.end(
        answer(names)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      )
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    asked,
    options: { env: { HOLDFAST_URL: `http://127.0.0.1:${port}` } },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
