import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSite, holdfastProgram, type Site, startHoldfast, until } from '@holdfast/testing'
import { expect } from 'chai'

const command = [process.execPath, holdfastProgram, 'serve', '--port', '0']

describe('holdfast serve', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  for (const [event, fault] of [
    ['unhandledRejection', "Promise.reject(new Error('a bug'))"],
    ['uncaughtException', "{ throw new Error('a bug') }"],
  ] as const) {
    it(`logs an uncaught fault as fatal (${event}), and exits with 1`, async () => {
      const code = `process.on('SIGUSR2', () => ${fault})`
      const server = await startHoldfast([], {
        cwd: site.path,
        env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` },
      })
      server.signal('SIGUSR2')
      expect(await server.ended).to.equal(1)
      const line = server.lines().at(-1)
      expect(line).to.include({ level: 60, msg: event })
      expect(line?.['err']).to.include({ type: 'Error', message: 'a bug' })
    })
  }

  it('ends at the second signal also while its store holds up the start', async () => {
    // Reading a pipe without a writer takes as long as reading from a server that is gone.
    const data = join(site.path, 'data')
    await mkdir(data)
    await promisify(execFile)('bash', ['-c', 'mkfifo "$0"', join(data, 'holdfast.json')])
    const child = spawn(process.execPath, command.slice(1), { cwd: site.path })
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    let log = ''
    let words = ''
    child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()))
    try {
      // The first line of the log is about the customers, who come before the store.
      await until('the customers are read', () => log.includes('has another cost'))
      child.kill('SIGTERM')
      child.kill('SIGINT')
      expect(await ended).to.deep.equal([null, 'SIGKILL'])
      expect(words).to.equal('holdfast: Killed while starting.\n')
      expect(log).not.to.include('listens')
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('keeps each line whole where several servers write into one pipe', async () => {
    // What Node calls a pipe is a pair of sockets; the shell makes real ones, and reads byte by byte.
    const script = '{ "$@" & "$@" & wait; } | while read -r line; do echo "$line"; done'
    const child = spawn('bash', ['-c', script, '-', ...command], {
      cwd: site.path,
      detached: true,
    })
    let log = ''
    child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    const linesOf = (message: string) => log.split('\n').filter((line) => line.includes(message))
    try {
      await until('both listen', () => linesOf('listens on').length === 2)
      const urls = linesOf('listens on').map((line) => (JSON.parse(line) as { url: string }).url)
      child.stdout.pause()
      const path = `/${'a'.repeat(1000)}`
      const requests = Array.from({ length: 300 }, () => urls.map((url) => fetch(url + path)))
      await Promise.all(requests.flat().map(async (answer) => (await answer).text()))
      child.stdout.resume()
      await until('every line is read', () => linesOf('"request"').length === 600)
      for (const line of log.trimEnd().split('\n'))
        expect(() => void JSON.parse(line), line).not.to.throw()
    } finally {
      if (child.exitCode === null) process.kill(-(child.pid ?? NaN), 'SIGKILL')
    }
  })
})
