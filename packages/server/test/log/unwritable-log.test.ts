import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { startSilentServer, type SilentServer } from './silent-server.ts'

const dropped = 'holdfast_log_lines_dropped_total'

/** Lines of bash that start a server whose log cannot be written, with how many workers it is tried. */
const outputs = [
  ['on a full disk', ['1', '2'], (serve: string) => `exec ${serve} > /dev/full`],
  ['on a full disk, as standard error is', ['1'], (serve) => `exec ${serve} > /dev/full 2>&1`],
  ['in a pipe whose reader has gone', ['2'], (serve) => `exec ${serve} > >(exec true)`],
] as const satisfies Outputs

type Outputs = readonly (readonly [string, readonly string[], (serve: string) => string])[]

const toUnreadPipe = (serve: string) => `exec ${serve} > >(exec sleep 1000)`

/** The same with a log that is not read. */
const unread = [
  ['pipe', ['1', '2'], toUnreadPipe],
  // Node.js makes a pair of sockets.
  ['socket', ['2'], (serve) => `exec ${serve}`],
] as const satisfies Outputs

async function expectService(server: SilentServer, times = 5): Promise<void> {
  for (let n = 0; n < times; n++) {
    expect(await server.ask('/ping')).to.equal(200)
    expect(await server.ask(`/upload/${n}.txt`, { method: 'PUT', body: 'text' })).to.equal(200)
  }
}

/** More than a pipe or a socket holds. */
async function fillPipe(server: SilentServer): Promise<void> {
  const path = `/${'a'.repeat(10_000)}`
  for (let n = 0; n < 5; n++) {
    await Promise.all(Array.from({ length: 20 }, () => server.ask(path)))
  }
}

describe('A server whose log cannot be written', function () {
  this.timeout(120_000)

  for (const [title, numbers, lineOf] of outputs) {
    for (const workers of numbers) {
      it(`${title} serves, counts the lines, and ends (workers: ${workers})`, async () => {
        await using server = await startSilentServer(lineOf, ['--workers', workers])
        await expectService(server)
        await until('lines are counted', async () => (await server.metric(dropped)) >= 10)
        server.signal('SIGTERM')
        await server.ended()
      })
    }
  }

  for (const [title, numbers, lineOf] of unread) {
    for (const workers of numbers) {
      it(`in a ${title} that is not read serves, and ends (workers: ${workers})`, async () => {
        await using server = await startSilentServer(lineOf, ['--workers', workers])
        await fillPipe(server)
        await expectService(server)
        server.signal('SIGTERM')
        await server.ended()
      })
    }
  }

  for (const workers of ['1', '2']) {
    it(`on a terminal that is closed serves, and ends (workers: ${workers})`, async () => {
      const lineOf = (serve: string) =>
        `script -qfc 'echo $PPID > script-pid; exec ${serve}' /dev/null > /dev/null`
      await using server = await startSilentServer(lineOf, ['--workers', workers])
      await expectService(server)
      const script = Number(readFileSync(join(server.site.path, 'script-pid'), 'utf8'))
      process.kill(script, 'SIGKILL')
      await until('lines are lost', async () => {
        await expectService(server, 1)
        return (await server.metric(dropped)) > 0
      })
      server.signal('SIGTERM')
      await server.ended()
    })
  }

  it('ends while its log and its audit trail go to a pipe that is not read', async () => {
    await using server = await startSilentServer(toUnreadPipe, ['--audit-log', '-'])
    await fillPipe(server)
    await expectService(server, 1)
    server.signal('SIGTERM')
    await server.ended()
  })

  it('ends all the same after an uncaught fault', async () => {
    const code = `process.on('SIGUSR2', () => { throw new Error('a bug') })`
    const option = `--import=data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`
    const lineOf = (serve: string) => `NODE_OPTIONS='${option}' exec ${serve} > /dev/full`
    await using server = await startSilentServer(lineOf)
    server.signal('SIGUSR2')
    await server.ended()
  })
})
