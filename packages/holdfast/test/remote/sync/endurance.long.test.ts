// It sends three quarters of a gibibyte while it is killed, and files while the server is restarted.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  holdfastProgram,
  residentMiB,
  startBadLine,
  startHoldfast,
  until,
  type HoldfastServer,
} from '@holdfast/testing'
import { expect } from 'chai'
import { useSyncSite } from './support/sync-site.ts'

const mebibyte = 1024 ** 2
/** Far more than a process may keep in memory. */
const size = 768 * mebibyte
const allowedMiB = 160
/** More than are sent while the server is restarted four times. */
const fileCount = 2000

describe('holdfast sync, at length', function () {
  this.timeout(1_200_000)
  const site = useSyncSite()

  const start = (port: number) => {
    const child = spawn(process.execPath, [holdfastProgram, 'sync', 'directory'], {
      cwd: site.path,
      env: { ...process.env, ...site.environment, HOLDFAST_URL: `http://127.0.0.1:${port}` },
    })
    const ended = Promise.all([
      once(child, 'close') as Promise<[number | null]>,
      text(child.stdout),
      text(child.stderr),
    ]).then(([[code], stdout, stderr]) => ({ code, stdout, stderr }))
    return { child, ended }
  }
  const digestOf = async (content: AsyncIterable<Uint8Array>) => {
    const hash = createHash('sha256')
    for await (const chunk of content) hash.update(chunk)
    return hash.digest('hex')
  }
  /** Mostly holes, but no two stretches are the same. */
  const writeLarge = async () => {
    const file = await open(join(site.directory, 'large'), 'w')
    await file.truncate(size)
    for (let at = 0; at < size; at += 16 * mebibyte) await file.write(`block at ${at}`, at)
    await file.close()
  }

  it('sends a large file though it is killed and the line is cut, and nothing twice', async () => {
    await writeLarge()
    const arrived = async () => (await site.client().usage()).unfinished.bytes
    const cut = { cutAfter: 40 * mebibyte }
    await using line = await startBadLine(site.server.port, [cut, cut, cut, cut, cut, cut])
    let before = 0
    for (let kill = 0; kill < 3; kill++) {
      const { child, ended } = start(line.port)
      const target = before + 110 * mebibyte
      await until('more has arrived', async () => (await arrived()) > target, 300_000)
      expect((await residentMiB(child.pid ?? 0)).most, 'MiB').to.be.below(allowedMiB)
      child.kill('SIGKILL')
      const { stderr } = await ended
      const [, from] = /continues after (\d+) bytes/.exec(stderr) ?? []
      if (kill > 0) expect(Number(from)).to.be.at.least(before)
      before = await arrived()
    }
    const { code, stdout, stderr } = await start(line.port).ended
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: 'Sent 1 file, 805 MB; 0 unchanged.\n',
    })
    const [, from] = /continues after (\d+) bytes/.exec(stderr) ?? []
    expect(Number(from)).to.be.at.least(before)
    const { body } = await site.client().download('large')
    const [there, here] = [body, createReadStream(join(site.directory, 'large'))].map(digestOf)
    expect(await there).to.equal(await here)
    expect(await site.client().usage()).to.have.nested.property('unfinished.uploads', 0)
  })

  it('sends everything though the server is restarted again and again', async () => {
    for (let at = 0; at < fileCount; at++) await site.write(`${at % 10}/${at}`, `content of ${at}`)
    for (const name of ['x', 'y', 'z'])
      await site.write(name, new Uint8Array(40 * mebibyte).fill(name.charCodeAt(0)))
    const { port } = site.server
    const args = ['--port', String(port), '--shutdown-grace', '1s']
    const restarted: HoldfastServer[] = [site.server]
    try {
      const { child, ended } = start(port)
      for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
        const server = restarted.at(-1)
        const names = (await site.names().catch(() => [])).length
        const isFurther = async () =>
          child.exitCode !== null || (await site.names().catch(() => [])).length > names + 300
        await until('more is there', isFurther, 120_000)
        server?.signal(signal)
        await server?.ended
        restarted.push(await startHoldfast(args, { cwd: site.path }))
      }
      const { code, stderr } = await ended
      expect(code, stderr).to.be.oneOf([0, 5])
      if (code === 5) expect((await site.run()).code).to.equal(0)
      expect((await site.run()).stdout).to.equal(`Sent 0 files, 0 B; ${fileCount + 3} unchanged.\n`)
      expect(await site.names()).to.have.length(fileCount + 3)
      for (let at = 0; at < fileCount; at += 100) {
        const there = await site.client().download(`${at % 10} - ${at}`)
        expect(await there.text()).to.equal(`content of ${at}`)
      }
      for (const name of ['x', 'y', 'z']) {
        const bytes = await (await site.client().download(name)).bytes()
        expect(Buffer.alloc(40 * mebibyte, name).equals(bytes)).to.equal(true)
      }
    } finally {
      await Promise.all(restarted.map((server) => server.kill()))
    }
  })
})
