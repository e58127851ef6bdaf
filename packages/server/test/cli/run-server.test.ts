import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { startHoldfast } from '../support/holdfast.ts'
import { createSite, type Site } from '../support/site.ts'
import { until } from '../support/until.ts'

const bin = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))

describe('runServer', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  for (const [event, fault] of [
    ['unhandledRejection', "Promise.reject(new Error('a bug'))"],
    ['uncaughtException', "{ throw new Error('a bug') }"],
  ] as const) {
    it(`logs a fault that nobody caught as fatal (${event}), and exits with 1`, async () => {
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
    // Reading a pipe that nobody writes takes as long as reading from a server that is gone.
    const data = join(site.path, 'data')
    await mkdir(data)
    await promisify(execFile)('bash', ['-c', 'mkfifo "$0"', join(data, 'holdfast.json')])
    const child = spawn(process.execPath, [bin, 'serve', '--port', '0'], { cwd: site.path })
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    let log = ''
    let words = ''
    child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()))
    try {
      // The first line of the log is about the customers, who come before the store.
      await until('the customers are read', () => log.includes('plain text'))
      child.kill('SIGTERM')
      child.kill('SIGINT')
      expect(await ended).to.deep.equal([null, 'SIGKILL'])
      expect(words).to.equal('holdfast: Killed while starting.\n')
      expect(log).not.to.include('listens')
    } finally {
      child.kill('SIGKILL')
    }
  })
})
