import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@holdfast/client'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import {
  holdfastProgram,
  makeTemporaryDirectory,
  runHoldfast,
  until,
  type TemporaryDirectory,
} from '@holdfast/testing'
import { expect } from 'chai'
import { openMemoryStore } from '../black-box/support/open-memory-store.ts'
import {
  anna,
  startService,
  type OpenedStore,
  type RunningService,
} from '../black-box/support/running-service.ts'

const dayMs = 24 * 60 * 60 * 1000

/** The commands that bring back what was replaced or deleted, on a service in this process. */
describe('The commands of earlier versions', function () {
  this.timeout(120_000)
  let service: RunningService
  let directory: TemporaryDirectory

  const start = async (open: () => Promise<OpenedStore>) => {
    directory = await makeTemporaryDirectory()
    service = await startService(open, { customers: [{ ...anna, keepReplacedMs: dayMs }] })
  }
  beforeEach(() => start(openMemoryStore))
  afterEach(async () => {
    await service[Symbol.asyncDispose]()
    await directory.remove()
  })

  const env = () => ({
    HOME: directory.path,
    HOLDFAST_URL: service.url,
    HOLDFAST_NAME: anna.name,
    HOLDFAST_PASSWORD: anna.password,
    TZ: 'UTC',
  })
  const holdfast = (...args: readonly string[]) =>
    runHoldfast(args, { cwd: directory.path, env: env() })
  const client = () => createClient({ url: service.url, ...anna })
  const names = () => service.anna.names()
  const text = (name: string) => service.anna.text(name)
  const store = async (name: string, ...contents: readonly string[]) => {
    for (const content of contents) await client().upload(name, content)
  }
  const versionsOf = async (name: string) => {
    const found: string[] = []
    for await (const { version } of client().versions(name)) found.push(version)
    return found
  }

  describe('holdfast versions', () => {
    it('prints a line for each, newest first, also of a deleted file', async () => {
      await store('a b.txt', 'x', 'x'.repeat(1234))
      await client().delete('a b.txt')
      const { code, stdout, stderr } = await holdfast('versions', 'a b.txt')
      expect([code, stderr]).to.deep.equal([0, ''])
      const [newest, oldest, ...rest] = stdout.split('\n')
      const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`
      const line = new RegExp(
        String.raw`^1\.23 kB {2}${time} {2}replaced ${time} {2}\S+ {2}a b\.txt$`,
      )
      expect(newest).to.match(line)
      expect(oldest).to.match(/^ {4}1 B /)
      expect(rest).to.deep.equal([''])
    })

    it('prints JSON, nothing for a file without any, and ends with 4 without a file', async () => {
      await store('a', 'one', 'two')
      const { stdout } = await holdfast('versions', 'a', '--json')
      const { modified, replaced, version, ...more } = JSON.parse(stdout) as Record<string, string>
      expect(more).to.deep.equal({ name: 'a', size: 3, type: 'application/octet-stream' })
      expect([version]).to.deep.equal(await versionsOf('a'))
      expect([modified, replaced].map((each) => Date.parse(each ?? ''))).to.not.include(NaN)
      await store('new', 'x')
      expect(await holdfast('versions', 'new')).to.deep.equal({ code: 0, stdout: '', stderr: '' })
      const missing = await holdfast('versions', 'new', 'none')
      expect(missing).to.include({ code: 4, stderr: 'holdfast: none: File not found\n' })
      expect((await holdfast('versions')).code).to.equal(2)
    })
  })

  describe('holdfast get --version', () => {
    it('downloads an earlier version into a file, or to standard output', async () => {
      await store('a.txt', 'old', 'new')
      const [version = ''] = await versionsOf('a.txt')
      expect((await holdfast('get', 'a.txt', '--version', version)).code).to.equal(0)
      expect(await readFile(join(directory.path, 'a.txt'), 'utf8')).to.equal('old')
      const piped = await holdfast('get', 'a.txt', '--version', version, '-o', '-')
      expect([piped.code, piped.stdout]).to.deep.equal([0, 'old'])
      expect((await holdfast('get', 'a.txt', '--version', 'none', '-o', 'x')).code).to.equal(4)
    })

    it('replaces no file of this machine that differs, and takes only one name', async () => {
      await store('a.txt', 'old', 'new')
      const [version = ''] = await versionsOf('a.txt')
      await writeFile(join(directory.path, 'a.txt'), 'mine')
      expect((await holdfast('get', 'a.txt', '--version', version)).code).to.equal(1)
      expect(await readFile(join(directory.path, 'a.txt'), 'utf8')).to.equal('mine')
      const several = await holdfast('get', 'a.txt', 'b.txt', '--version', version)
      expect(several.code).to.equal(2)
      expect(several.stderr).to.include('--version is for one file')
    })
  })

  describe('holdfast ls --deleted', () => {
    it('lists deleted files, with their times, in every order', async () => {
      await store('small', 'x')
      await store('large', 'x'.repeat(1234))
      await store('present', 'one', 'two')
      await client().delete('small')
      await client().delete('large')
      expect(await holdfast('ls', '--deleted')).to.include({ stdout: 'large\nsmall\n', code: 0 })
      expect((await holdfast('ls', '--deleted', '*mall')).stdout).to.equal('small\n')
      const { stdout } = await holdfast('ls', '--deleted', '-l', '--sort', 'size', '-r')
      expect(stdout).to.match(/^ {4}1 B .* deleted .* small\n1\.23 kB .* deleted .* large\n$/)
      const json = JSON.parse((await holdfast('ls', '--deleted', 's', '--json')).stdout) as object
      expect(json).to.have.all.keys('name', 'version', 'size', 'modified', 'deleted', 'type')
      expect((await holdfast('ls', '--deleted', 'x')).code).to.equal(4)
    })
  })

  it('are completed by names of deleted files for restore, and of files for others', async () => {
    await store('an old', 'x')
    await client().delete('an old')
    await store('an only', 'x')
    const completed = async (...words: readonly string[]) =>
      (await holdfast('--complete', 'zsh', ...words)).stdout
    expect(await completed('restore', 'an')).to.equal('an old\n')
    expect(await completed('versions', 'an')).to.equal('an only\n')
  })

  describe('holdfast restore', () => {
    it('brings back what was replaced or deleted last', async () => {
      await store('a', 'old', 'new')
      await store('b', 'b')
      await client().delete('b')
      const { code, stdout, stderr } = await holdfast('restore', 'a', 'b')
      expect([code, stdout]).to.deep.equal([0, ''])
      expect(stderr.split('\n')).to.have.members(['Restored a', 'Restored b', ''])
      expect([await text('a'), await text('b')]).to.deep.equal(['old', 'b'])
    })

    it('brings back a version, under another name, and replaces nothing with --no-clobber', async () => {
      await store('a', 'one', 'two', 'three')
      const [, version = ''] = await versionsOf('a')
      const args = ['restore', 'a', '--version', version, '--as', 'b', '--no-clobber'] as const
      expect(await holdfast(...args)).to.include({ code: 0, stderr: 'Restored a as b\n' })
      expect([await text('a'), await text('b')]).to.deep.equal(['three', 'one'])
      const message = 'holdfast: a: There is a file of this name on the server\n'
      expect(await holdfast(...args)).to.include({ code: 1, stderr: message })
      expect((await holdfast('restore', 'a', '--version', version)).code).to.equal(0)
      expect(await text('a')).to.equal('one')
    })

    it('reports as JSON, and ends with 4 where nothing is kept', async () => {
      await store('a', 'old', 'new')
      const done = await holdfast('restore', '--json', 'a')
      expect(JSON.parse(done.stdout)).to.deep.equal({ name: 'a', restored: true })
      const failed = await holdfast('restore', '--json', 'none')
      expect(failed.code).to.equal(4)
      expect(JSON.parse(failed.stdout)).to.deep.equal({
        name: 'none',
        error: { code: 'version-not-found', message: 'Version not found' },
      })
      expect((await holdfast('restore', '--dry-run', 'none')).code).to.equal(4)
    })

    it('takes patterns for deleted files, and only shows them with --dry-run', async () => {
      for (const name of ['a.txt', 'b.txt', 'c.jpg']) {
        await store(name, 'x')
        await client().delete(name)
      }
      await store('d.txt', 'old', 'new')
      const shown = await holdfast('restore', '-n', '*.txt')
      expect(shown.code).to.equal(0)
      expect(shown.stderr).to.match(
        /^Would restore a\.txt, 1 B, stored .*\nWould restore b\.txt, .*\n$/,
      )
      expect(await names()).to.deep.equal(['d.txt'])
      expect((await holdfast('restore', '*.txt', '*.png')).code).to.equal(4)
      expect(await names()).to.deep.equal(['a.txt', 'b.txt', 'd.txt'])
      expect(await text('d.txt')).to.equal('new')
    })

    it('brings back all deleted files, of a prefix, or since a time', async () => {
      for (let index = 100; index < 160; index++) {
        await store(`many ${index}`, `${index}`)
        await client().delete(`many ${index}`)
      }
      await store('other', 'x')
      await client().delete('other')
      const selected = async (...args: readonly string[]) =>
        (await holdfast('restore', '--all-deleted', '--dry-run', '--json', ...args)).stdout.split(
          '\n',
        ).length - 1
      expect(await selected()).to.equal(61)
      expect(await selected('--prefix', 'many ')).to.equal(60)
      expect(await selected('--since', '1h')).to.equal(61)
      expect(await selected('--since', '2999-01-01')).to.equal(0)
      const { code, stderr } = await holdfast('restore', '--all-deleted', '--prefix', 'many ')
      expect(code).to.equal(0)
      expect(stderr.split('\n')).to.have.length(61)
      expect(await names()).to.have.length(60)
      expect(await text('many 123')).to.equal('123')
      const nothing = await holdfast('restore', '--all-deleted', '--prefix', 'many ')
      expect(nothing.code).to.equal(0)
      expect(nothing.stderr).to.include('No deleted file is kept that this selects.')
    })

    it('asks on a terminal before it restores more than ten files', async () => {
      for (let index = 0; index < 11; index++) {
        await store(`many ${index}`, 'x')
        await client().delete(`many ${index}`)
      }
      const onTerminal = async (answer: string, ...args: readonly string[]) => {
        const words = [process.execPath, holdfastProgram, 'restore', ...args]
        const command = words.map((word) => `'${word}'`).join(' ')
        const child = spawn('script', ['-qec', command, '/dev/null'], {
          cwd: directory.path,
          env: { ...process.env, ...env() },
        })
        let shown = ''
        child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
        const closed = once(child, 'close') as Promise<[number]>
        if (answer !== '') {
          await until('it asks', () => shown.includes('Restore 11 files (11 B)? [y/N] '))
          child.stdin.write(answer)
        }
        const [code] = await closed
        return { code, shown }
      }
      const refused = await onTerminal('\r', '--all-deleted')
      expect(refused.code).to.equal(1)
      expect(refused.shown).to.include('Nothing was restored.')
      expect(await names()).to.deep.equal([])
      expect((await onTerminal('y\r', 'many *')).code).to.equal(0)
      expect(await names()).to.have.length(11)
      for (const name of await names()) await client().delete(name)
      const forced = await onTerminal('', '--all-deleted', '--force')
      expect([forced.code, forced.shown.includes('?')]).to.deep.equal([0, false])
      expect(await names()).to.have.length(11)
    })

    it('says which flags exclude each other', async () => {
      for (const [args, message] of [
        [[], 'Say the name of a file, or --all-deleted'],
        [['a', '--all-deleted'], '--all-deleted restores all deleted files'],
        [['--all-deleted', '--as', 'b'], '--version and --as are for one file'],
        [['a', 'b', '--as', 'c'], '--version and --as are for one file'],
        [['a', '--since', '1h'], '--since is for all deleted files'],
        [['--all-deleted', '--since', 'yesterday'], '--since "yesterday" is not a time'],
        [['a', '--concurrency', '0'], '--concurrency "0" is not a number'],
      ] as const) {
        const { code, stderr } = await holdfast('restore', ...args)
        expect(code, args.join(' ')).to.equal(2)
        expect(stderr).to.include(message)
      }
    })
  })

  it('holdfast du counts them', async () => {
    await store('a', 'one', 'two')
    const { stdout } = await holdfast('du')
    expect(stdout).to.include('versions    1 earlier version with 3 B, outside the quota\n')
  })

  it('say it where the server keeps nothing', async () => {
    await service[Symbol.asyncDispose]()
    await directory.remove()
    await start(async () => {
      const memory = createMemoryBlobStore()
      Reflect.deleteProperty(memory, 'history')
      return { store: memory, litter: async () => [], close: async () => {} }
    })
    for (const args of [
      ['versions', 'a'],
      ['restore', 'a'],
      ['restore', '--all-deleted'],
      ['ls', '--deleted'],
    ]) {
      const { code, stderr } = await holdfast(...args)
      expect(code, args.join(' ')).to.equal(1)
      expect(stderr).to.include('The server keeps neither earlier versions nor deleted files')
    }
  })
})
