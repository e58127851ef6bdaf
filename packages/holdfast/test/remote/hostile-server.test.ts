import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { runOnTerminal } from '../terminal/support/run-on-terminal.ts'

const nasty = '\u001b]0;x\u0007\u009b2J\u202e\nx'
const details = {
  name: 'a',
  size: 1,
  modified: new Date(0).toJSON(),
  type: nasty,
  etag: nasty,
}

describe('What a hostile server says', function () {
  this.timeout(120_000)
  let server: Server
  let answer: unknown
  let status: number

  beforeEach(async () => {
    status = 200
    server = createServer((request, response) => {
      request.resume()
      const type = request.url?.includes('batch') ? 'application/x-ndjson' : 'application/json'
      response.writeHead(status, { 'Content-Type': type, 'X-Request-Id': '\u009b2J' })
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const run = (...args: readonly string[]) =>
    runOnTerminal(args, [], {
      env: {
        HOME: '/nonexistent',
        HOLDFAST_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        HOLDFAST_NAME: 'demo',
        HOLDFAST_PASSWORD: 'sesame',
      },
    })
  const expectHarmless = (shown: string) => {
    // The terminal itself makes a carriage return of each line's end.
    const lines = shown.replaceAll('\r\n', '\n')
    // The command's own colour, where the environment does not forbid it.
    const text = lines.replace(/^\u001b\[31mholdfast:\u001b\[39m/gm, 'holdfast:')
    expect(text).not.to.match(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u)
    expect(text).not.to.match(/^x/m)
  }

  for (const args of [
    ['stat', 'a'],
    ['ls', '--long'],
    ['ls', '--json'],
    ['stat', 'a', '--json'],
  ]) {
    it(`reaches no terminal as it is by ${args.join(' ')}`, async () => {
      answer = [args[0] === 'ls' ? { ...details, name: nasty } : details]
      const { code, shown } = await run(...args)
      expectHarmless(shown)
      expect(code).to.equal(0)
    })
  }

  it('reaches no terminal by a link', async () => {
    answer = { url: `http://x/${nasty}/serve/a?${nasty}`, expires: details.modified }
    const { code, shown } = await run('link', 'a')
    expectHarmless(shown)
    expect(code).to.equal(0)
  })

  for (const args of [['stat', 'a'], ['du'], ['ls'], ['rm', 'a'], ['get', 'a'], ['link', 'a']]) {
    it(`reaches no terminal by an error of ${args[0]}`, async () => {
      status = 500
      answer = { statusCode: 500, error: nasty, message: `An unexpected error occurred${nasty}` }
      const { code, shown } = await run(...args)
      expectHarmless(shown)
      expect(code).to.equal(1)
    })
  }

  it('is no answer where its numbers are none', async () => {
    for (const [args, value] of [
      [['du'], { files: nasty, bytes: 'x', unfinished: {} }],
      [['stat', 'a'], [{ ...details, size: 'x' }]],
      [['ls', '-l'], [{ ...details, size: null }]],
    ] as const) {
      answer = value
      const { code, shown } = await run(...args)
      expectHarmless(shown)
      expect(shown).to.include('holdfast')
      expect(shown).not.to.include('toFixed').and.not.to.include('report it')
      expect(code).to.equal(1)
    }
  })
})
