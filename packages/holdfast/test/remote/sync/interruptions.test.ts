import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { holdfastProgram, rejection, startBadLine, until, type Fate } from '@holdfast/testing'
import { expect } from 'chai'
import { selectPaths } from '../../../src/remote/selection.ts'
import { useSyncSite } from './support/sync-site.ts'

const mebibyte = 1024 ** 2

describe('Where it is interrupted, holdfast sync', function () {
  this.timeout(240_000)
  const site = useSyncSite()

  const writeMany = async (count: number) => {
    for (let at = 0; at < count; at++) await site.write(`${at % 10}/${at}.txt`, `content of ${at}`)
  }
  const textOf = async (at: number) =>
    (await site.client().download(`${at % 10} - ${at}.txt`)).text()
  const over = async <T>(fates: readonly Fate[], use: (url: string) => Promise<T>): Promise<T> => {
    await using line = await startBadLine(site.server.port, fates)
    return await use(`http://127.0.0.1:${line.port}`)
  }

  it('goes on after it was killed, and sends only what is missing', async () => {
    await writeMany(2000)
    await site.write('large', new Uint8Array(20 * mebibyte))
    const env = { ...process.env, ...site.environment }
    const child = spawn(process.execPath, [holdfastProgram, 'sync', 'directory'], {
      cwd: site.path,
      env,
    })
    const ended = once(child, 'close')
    child.stdin.end()
    void text(child.stdout)
    await until('files are on the server', async () => (await site.names()).length > 100, 120_000)
    child.kill('SIGKILL')
    await ended
    const before = (await site.names()).length
    const { code, stdout } = await site.run()
    expect(code).to.equal(0)
    const [, sent = ''] = /^Sent (\d+) files?,/.exec(stdout) ?? []
    expect(Number(sent)).to.be.at.most(2001 - before)
    expect(await site.names()).to.have.length(2001)
    for (let at = 3; at < 2000; at += 100) expect(await textOf(at)).to.equal(`content of ${at}`)
    expect(await site.client().stat('large')).to.include({ size: 20 * mebibyte })
    expect((await site.run()).stdout).to.equal('Sent 0 files, 0 B; 2001 unchanged.\n')
  })

  it('goes on over a line that breaks', async () => {
    await writeMany(300)
    await site.write('large', new Uint8Array(20 * mebibyte).fill(7))
    const fates: readonly Fate[] = [
      'unanswered',
      { cutAnswerAfter: 100 },
      { cutAfter: 20_000 },
      { cutAfter: 3 * mebibyte },
      { cutAnswerAfter: 500 },
      { cutAfter: 5 * mebibyte },
      'unanswered',
    ]
    const { sent, failed } = await over(fates, (url) => site.sync({ client: site.client({ url }) }))
    expect({ sent, failed }).to.deep.equal({ sent: 301, failed: 0 })
    expect(await site.names()).to.have.length(301)
    for (let at = 0; at < 300; at += 20) expect(await textOf(at)).to.equal(`content of ${at}`)
    const large = await (await site.client().download('large')).bytes()
    expect(large.length === 20 * mebibyte && large.every((byte) => byte === 7)).to.equal(true)
    expect(await site.sync()).to.include({ sent: 0, unchanged: 301 })
  })

  it('goes on with a large file where an earlier run stopped', async () => {
    await site.write('large', new Uint8Array(40 * mebibyte).fill(7))
    const cut = { cutAfter: 25 * mebibyte }
    await over([cut, cut], async (url) => {
      const run = site.sync({ client: site.client({ url, retries: 0 }) })
      expect(await rejection(run)).to.include({ code: 'no-answer' })
      expect(await site.names()).to.deep.equal([])
      const { sent, said } = await site.sync({ client: site.client({ url }) })
      expect(sent).to.equal(1)
      expect(said.join()).to.match(/large: continues after \d+ bytes/)
    })
    expect(await site.stored()).to.deep.equal({ large: '\u0007'.repeat(40 * mebibyte) })
  })

  it('has the server forget what has arrived of a file that is gone', async () => {
    await site.write('a', 'a')
    await site.write('large', new Uint8Array(40 * mebibyte))
    const unfinished = async () => (await site.client().usage()).unfinished.uploads
    // Which connection gets the large file, and which the small one, is chance.
    const cut = { cutAfter: 25 * mebibyte }
    await over([cut, cut, cut], async (url) => {
      await rejection(site.sync({ client: site.client({ url, retries: 0 }) }))
      await until('the server has a part', async () => (await unfinished()) === 1)
      await site.remove('large')
      const client = site.client({ url })
      expect(await site.sync({ client, isDryRun: true })).to.include({ failed: 0 })
      expect(await unfinished()).to.equal(1)
      const selection = selectPaths({ exclude: ['large'] })
      expect(await site.sync({ client, selection })).to.include({ failed: 0 })
      expect(await unfinished()).to.equal(1)
      expect(await site.sync({ client })).to.include({ failed: 0 })
    })
    expect(await unfinished()).to.equal(0)
    expect(await readdir(join(site.path, 'state/uploads'))).to.deep.equal([])
  })

  it('ends at its signal, and goes on the next time', async () => {
    await writeMany(50)
    const stop = new AbortController()
    const client = site.client()
    const stopping = {
      ...client,
      uploadMany: (...args: Parameters<typeof client.uploadMany>) => {
        stop.abort(new Error('Enough'))
        return client.uploadMany(...args)
      },
    }
    const run = site.sync({ client: stopping, signal: stop.signal })
    expect(await rejection(run)).to.include({ message: 'Enough' })
    expect(await site.sync()).to.include({ sent: 50 })
  })

  it('gets the same done by two runs at once as by one', async () => {
    await writeMany(500)
    await site.write('large', new Uint8Array(20 * mebibyte))
    const both = await Promise.all([site.run(), site.run()])
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0])
    expect((await site.run()).stdout).to.equal('Sent 0 files, 0 B; 501 unchanged.\n')
    for (let at = 0; at < 500; at += 25) expect(await textOf(at)).to.equal(`content of ${at}`)
  })

  it('sends a file that changes meanwhile as it is afterwards', async () => {
    const path = join(site.directory, 'file')
    await writeFile(path, 'a'.repeat(300_000))
    const client = site.client()
    let tries = 0
    const changing = {
      ...client,
      upload: async (...args: Parameters<typeof client.upload>) => {
        if (tries++ === 0) await writeFile(path, 'b'.repeat(400_000))
        return client.upload(...args)
      },
    }
    expect(await site.sync({ client: changing })).to.include({ sent: 1, failed: 0 })
    expect(await site.stored()).to.deep.equal({ file: 'b'.repeat(400_000) })
    expect(await site.sync()).to.include({ sent: 0, unchanged: 1 })
  })

  it('stores no mixture of a file that never stands still, and says so', async () => {
    const path = join(site.directory, 'file')
    await writeFile(path, 'a'.repeat(300_000))
    const client = site.client()
    let size = 300_000
    const changing = {
      ...client,
      upload: async (...args: Parameters<typeof client.upload>) => {
        await writeFile(path, 'b'.repeat(++size))
        return client.upload(...args)
      },
    }
    const { sent, failed, said } = await site.sync({ client: changing })
    expect({ sent, failed }).to.deep.equal({ sent: 0, failed: 1 })
    expect(said.join()).to.include('changed meanwhile')
    expect(await site.names()).to.deep.equal([])
  })

  it('keeps what has come into the directory before the deletion', async () => {
    await site.write('a', 'a')
    await site.client().upload('b', 'on the server only')
    await site.client().upload('c', 'on the server only')
    const client = site.client()
    const late = {
      ...client,
      uploadMany: async function* (...args: Parameters<typeof client.uploadMany>) {
        yield* client.uploadMany(...args)
        await site.write('b', 'late')
      },
    }
    expect(await site.sync({ client: late, mostDeletions: 10 })).to.include({ deleted: 1 })
    expect(await site.names()).to.deep.equal(['a', 'b'])
    expect(await site.sync()).to.include({ sent: 1 })
  })

  it('deletes nothing where a file could not be sent', async () => {
    await site.write('new', 'x'.repeat(300_000))
    await site.client().upload('old', 'x')
    const client = site.client()
    const failing = { ...client, upload: () => Promise.reject(new Error('The disk failed')) }
    const { failed, deleted, said } = await site.sync({ client: failing, mostDeletions: 10 })
    expect({ failed, deleted }).to.deep.equal({ failed: 1, deleted: 0 })
    expect(said.join()).to.include('Nothing was deleted')
    expect(await site.names()).to.deep.equal(['old'])
  })
})

describe('Where files change meanwhile, holdfast pull', function () {
  this.timeout(60_000)
  const site = useSyncSite()

  it('deletes what is only here, and passes over what is gone, or is a link by then', async () => {
    await site.client().upload('a', 'a')
    for (let at = 100; at < 300; at++) await site.write(`z-${at}`, 'only here')
    const client = site.client()
    const changing = {
      ...client,
      async *listDetails(...options: Parameters<typeof client.listDetails>) {
        // The directory has been read, and the first of its files have been looked at.
        await delay(500)
        await site.remove('z-250')
        await site.remove('z-260')
        await symlink('a', join(site.directory, 'z-260'))
        yield* client.listDetails(...options)
      },
    }
    const summary = await site.pull({ client: changing, mostDeletions: 1000 })
    expect(summary).to.include({ fetched: 1, deleted: 198, failed: 0 })
    expect((await lstat(join(site.directory, 'z-260'))).isSymbolicLink()).to.equal(true)
    expect((await readdir(site.directory)).toSorted()).to.deep.equal(['a', 'z-260'])
  })
})
