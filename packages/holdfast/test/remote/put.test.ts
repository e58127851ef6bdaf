import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { startBadLine, until } from '@holdfast/testing'
import { expect } from 'chai'
import { allOf, contentOf, digestOf, mebibyte, useLogin } from './support/logged-in.ts'

describe('holdfast put', function () {
  this.timeout(180_000)
  const { site, run, start, client, server } = useLogin()
  const stored = async (name: string) => (await client().download(name)).bytes()
  const names = () => allOf(client().list())
  const write = (name: string, bytes: Uint8Array | string) =>
    writeFile(join(site.path, name), bytes)
  const records = () => readdir(join(site.path, 'state/holdfast/uploads')).catch(() => [])

  it('uploads files by the last part of their paths', async () => {
    await mkdir(join(site.path, 'dir'))
    await write('dir/a b.txt', 'one')
    await write('ü🙂', '')
    expect(await run(['put', 'dir/a b.txt', 'ü🙂', '--concurrency', '1'])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr:
        'dir/a b.txt is stored as a b.txt, 3 B\nü🙂 is stored as ü🙂, 0 B\n2 files, 3 B in all\n',
    })
    expect(await names()).to.deep.equal(['a b.txt', 'ü🙂'])
    expect(Buffer.from(await stored('a b.txt')).toString()).to.equal('one')
  })

  it('uploads all of files whose size is not the length of their content', async function () {
    if (process.platform !== 'linux') return
    const paths = ['/proc/version', '/sys/kernel/mm/transparent_hugepage/enabled']
    for (const some of [paths.slice(0, 1), paths.slice(1), paths]) {
      expect((await run(['put', ...some])).code).to.equal(0)
      for (const path of some) {
        const content = await readFile(path)
        expect(Buffer.from(await stored(basename(path))).equals(content), path).to.equal(true)
        await client().delete(basename(path))
      }
    }
  })

  it('uploads standard input, under another name, and says so as JSON', async () => {
    const { code, stdout, stderr } = await run(['put', '-', '--as', 'x', '--json'], { input: 'in' })
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).to.deep.equal({ name: 'x', path: '-', size: 2 })
    expect(Buffer.from(await stored('x')).toString()).to.equal('in')
  })

  it('uploads files that are called help', async () => {
    await write('a', 'one')
    await write('help', 'two')
    expect(await run(['put', 'a', 'help', '--concurrency', '1'])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'a is stored as a, 3 B\nhelp is stored as help, 3 B\n2 files, 6 B in all\n',
    })
    expect(await names()).to.deep.equal(['a', 'help'])
    expect((await run(['rm', 'a', 'help'])).stderr).to.include('Deleted help\n')
    expect(await names()).to.deep.equal([])
  })

  it('reports a file as stored where no records of uploads can be kept', async () => {
    await write('state', 'a file in place of the directory')
    await write('a', 'one')
    expect(await run(['put', 'a'])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'a is stored as a, 3 B\n',
    })
  })

  it('replaces files, unless it must not', async () => {
    await write('a', 'one')
    await write('b', 'b')
    await run(['put', 'a'])
    await write('a', 'two')
    expect(await run(['put', 'a', 'b', '--no-clobber', '--concurrency', '1'])).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'holdfast: a: There is a file of this name on the server\nb is stored as b, 1 B\n',
    })
    expect(Buffer.from(await stored('a')).toString()).to.equal('one')
    expect((await run(['put', 'a'])).code).to.equal(0)
    expect(Buffer.from(await stored('a')).toString()).to.equal('two')
  })

  it('goes on after what it cannot upload', async () => {
    await mkdir(join(site.path, 'dir'))
    await write('a', 'one')
    const { code, stderr } = await run(['put', 'dir', 'none', 'a', '--concurrency', '1'])
    expect(code).to.equal(1)
    expect(stderr).to.include('holdfast: dir: It is a directory; -r uploads all files in it')
    expect(stderr).to.include('holdfast: none: No such file or directory\n')
    expect(await names()).to.deep.equal(['a'])
    expect((await run(['put', 'none'])).code).to.equal(4)
    const { stdout } = await run(['put', 'none', '--json'])
    expect(JSON.parse(stdout)).to.have.deep.property('name', 'none')
    expect(JSON.parse(stdout)).to.have.nested.property('error.code', 'ENOENT')
  })

  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [['put'], 'Say which file'],
    [['put', '-'], 'Give standard input a name on the server'],
    [['put', 'a', 'b', '--as', 'c'], '--as is the name of one file'],
    [['put', 'a', 'dir/a'], 'a and dir/a would both be called "a"'],
    [['put', 'a', '--concurrency', '0'], '--concurrency "0" is not a number from 1 to 64'],
    [['put', 'a', '--noclobber'], 'Did you mean --no-clobber?'],
  ]
  it('uploads the files of a directory with -r, under names made of their paths', async () => {
    await mkdir(join(site.path, 'dir/sub'), { recursive: true })
    for (const name of ['dir/a', 'dir/sub/b', 'dir/sub/c.tmp'])
      await writeFile(join(site.path, name), name)
    expect((await run(['put', '-r', 'dir', '--exclude', '*.tmp'])).code).to.equal(0)
    expect(await allOf(client().list())).to.deep.equal(['dir - a', 'dir - sub - b'])
  })

  it('refuses -r with --as before it reads a directory', async () => {
    await mkdir(join(site.path, 'dir'))
    await symlink('nowhere', join(site.path, 'dir/link'))
    const { code, stderr } = await run(['put', '-r', 'dir', '--as', 'x'])
    expect({ code, stderr }).to.deep.equal({
      code: 2,
      stderr: 'holdfast: --as is the name of one file; leave out -r.\n',
    })
  })

  it('ends with 2 for mistakes', async () => {
    for (const [args, message] of mistakes) {
      const { code, stderr } = await run(args)
      expect({ args, code }).to.deep.equal({ args, code: 2 })
      expect(stderr).to.include(message)
    }
  })

  /** A line that is cut after `size` bytes, and on which the client then waits in vain; later connections are good. */
  const startCutLine = (size: number) => startBadLine(server().port, [{ cutAfter: size }, 'silent'])
  const unfinished = async () => (await client().usage()).unfinished

  it('goes on with a large file after it was killed', async () => {
    const bytes = contentOf(40 * mebibyte)
    await write('large', bytes)
    await using line = await startCutLine(24 * mebibyte)
    const { child, ended } = start(['put', 'large'], line)
    await until('the client asks where the server is', () => line.connections() === 2, 120_000)
    await until('the upload is recorded', async () => (await records()).length === 1)
    child.kill('SIGKILL')
    expect((await ended).end).to.equal('SIGKILL')
    await until('the server has a part', async () => (await unfinished()).bytes > mebibyte)
    expect(await names().catch(() => [])).to.deep.equal([])

    const { code, stderr } = await run(['put', 'large'], line)
    expect(code).to.equal(0)
    expect(stderr).to.match(
      /^holdfast: large continues at \d\S+ MB\nlarge is stored as large, 41.9 MB\n$/,
    )
    expect(digestOf(await stored('large'))).to.equal(digestOf(bytes))
    expect(await records()).to.deep.equal([])
    expect((await unfinished()).uploads).to.equal(0)
  })

  it('begins anew where the file is another one by then', async () => {
    const bytes = contentOf(20 * mebibyte)
    await write('large', bytes)
    await utimes(join(site.path, 'large'), 1, 1)
    await using line = await startCutLine(8 * mebibyte)
    const { child, ended } = start(['put', 'large'], line)
    await until('the client asks where the server is', () => line.connections() === 2, 120_000)
    await until('the upload is recorded', async () => (await records()).length === 1)
    child.kill('SIGINT')
    const { end, stderr } = await ended
    expect(end).to.equal(130)
    expect(stderr).to.include('holdfast: Stopped by SIGINT.\n')

    // The same size, time and inode.
    await write('large', bytes.reverse())
    await utimes(join(site.path, 'large'), 1, 1)
    const second = await run(['put', 'large'], line)
    expect(second).to.deep.include({ code: 0 })
    expect(second.stderr).not.to.include('continues')
    expect(digestOf(await stored('large'))).to.equal(digestOf(bytes))
  })

  it('records a large file that is stopped at that moment, so that the next command goes on', async () => {
    const bytes = contentOf(20 * mebibyte)
    await write('large', bytes)
    await using line = await startBadLine(server().port, [{ cutAfter: 8 * mebibyte }])
    const slowSync = `import fs from 'node:fs'
      const { fsync } = fs
      fs.fsync = (file, done) => setTimeout(() => fsync(file, done), 3000)`
    const { child, ended } = start(['put', 'large'], {
      port: line.port,
      nodeOptions: `--import=data:text/javascript,${encodeURIComponent(slowSync)}`,
    })
    await until('the record is written', async () => (await records()).length === 1, 120_000)
    child.kill('SIGINT')
    const { end, stderr } = await ended
    expect(end).to.equal(130)
    expect(stderr).to.include('holdfast: Stopped by SIGINT.\n')
    expect((await records()).map((name) => extname(name))).to.deep.equal(['.json'])
    await until('the server has a part', async () => (await unfinished()).bytes > mebibyte)
    const second = await run(['put', 'large'], line)
    expect(second.code).to.equal(0)
    expect(second.stderr).to.include('large continues at')
    expect(digestOf(await stored('large'))).to.equal(digestOf(bytes))
  })

  it('ends at a signal though standard input stands still', async () => {
    const { child, ended } = start(['put', '-', '--as', 'x'])
    // What it has not read when it ends.
    child.stdin?.on('error', () => {})
    child.stdin?.write(contentOf(9 * mebibyte))
    await until('the upload begins', async () => (await unfinished()).uploads === 1, 120_000)
    child.kill('SIGTERM')
    expect((await ended).end).to.equal(143)
    expect(await names().catch(() => [])).to.deep.equal([])
  })

  it('ends at a signal though nothing is written to a pipe', async () => {
    const pipe = join(site.path, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const { child, ended } = start(['put', 'pipe'])
    const descriptors = `/proc/${child.pid}/fd`
    await until('the pipe is open', async () => {
      const open = await readdir(descriptors)
      const links = open.map((name) => readlink(join(descriptors, name)).catch(() => ''))
      return (await Promise.all(links)).includes(pipe)
    })
    child.kill('SIGINT')
    expect((await ended).end).to.equal(130)
    expect(await names().catch(() => [])).to.deep.equal([])
  })
})
