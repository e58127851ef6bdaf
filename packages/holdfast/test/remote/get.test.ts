import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@holdfast/core'
import { startBadLine, until } from '@holdfast/testing'
import { expect } from 'chai'
import { durableBytesOf } from '../../src/remote/get/partial-files.ts'
import { runOnTerminal } from '../terminal/support/run-on-terminal.ts'
import { contentOf, digestOf, mebibyte, useLogin } from './support/logged-in.ts'

describe('holdfast get', function () {
  this.timeout(180_000)
  const { site, run, start, client, server, env } = useLogin()
  const store = (name: string, content: string | Uint8Array = name) =>
    client().upload(name, content)
  const read = (path: string) => readFile(join(site.path, path), 'utf8')
  const readDigest = async (path: string) => digestOf(await readFile(join(site.path, path)))
  const partials = async () => {
    const names = await readdir(site.path)
    return names.filter((name) => name.endsWith('.part'))
  }

  it('downloads files to where it is, by name and by pattern', async () => {
    for (const name of ['a.txt', 'b.txt', 'c']) await store(name)
    expect(await run(['get', '*.txt', 'c', '--concurrency', '1'])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr:
        'a.txt is downloaded, 5 B\nb.txt is downloaded, 5 B\nc is downloaded, 1 B\n3 files, 11 B in all\n',
    })
    for (const name of ['a.txt', 'b.txt', 'c']) expect(await read(name)).to.equal(name)
    expect(await partials()).to.deep.equal([])
  })

  it('fetches small files together, and large ones and those that are here alone', async () => {
    const names = Array.from({ length: 1200 }, (_, index) => `small ${index}`)
    const large = contentOf(mebibyte)
    await Promise.all([...names, 'here'].map((name) => store(name)))
    await store('large', large)
    await mkdir(join(site.path, 'all'))
    await site.write('all/here', 'another')
    const outcome = await run(['get', '*', 'missing', '-o', 'all', '--force'])
    expect(outcome.code).to.equal(4)
    expect(outcome.stderr).to.match(/^holdfast: missing: File not found$/m)
    expect(outcome.stderr).to.match(/^1202 files, .* in all$/m)
    for (const name of [...names, 'here']) expect(await read(`all/${name}`)).to.equal(name)
    expect(await readDigest('all/large')).to.equal(digestOf(large))
    const paths = server()
      .lines()
      .flatMap(({ method, path, customer }) =>
        customer === 'demo' && (method === 'GET' || path === '/serve/batch') ? [path] : [],
      )
    const asked = paths.filter((path) => String(path).startsWith('/serve/'))
    expect(asked.filter((path) => path === '/serve/batch').length).to.be.within(2, 4)
    expect(asked.filter((path) => path !== '/serve/batch')).to.have.members([
      '/serve/here',
      '/serve/large',
      '/serve/missing',
    ])
  })

  it('keeps the nasty names of the contract as they are', async () => {
    const names = [
      '.hidden',
      '-rf',
      ' a  b ',
      '...',
      '%2e%2e%2f',
      '\\',
      '..\\x',
      '__proto__',
      'CON',
      'ü',
      'u\u0308',
      '🙂',
      '$(touch x)',
      '*',
      '\u202Egpj.exe',
      '\u009b31m',
      '字'.repeat(85),
      'a'.repeat(255),
    ]
    for (const name of names) await store(name)
    const { code, stderr } = await run(['get', '*', '-o', 'all/', '--literal'])
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'all/* is downloaded, 1 B\n' })
    const second = await run(['get', '?*', '.*', '-o', 'all'])
    expect(second.code).to.equal(0)
    expect(second.stderr).not.to.include('\u009b')
    expect((await readdir(join(site.path, 'all'))).sort()).to.deep.equal([...names].sort())
    for (const name of names) expect(await read(join('all', name))).to.equal(name)
  })

  it('takes the path of one file, a directory, and standard output', async () => {
    await store('a')
    await store('b')
    await mkdir(join(site.path, 'dir'))
    expect((await run(['get', 'a', '-o', 'dir/other'])).code).to.equal(0)
    expect((await run(['get', 'a', 'b', '--output', 'dir'])).code).to.equal(0)
    expect((await readdir(join(site.path, 'dir'))).sort()).to.deep.equal(['a', 'b', 'other'])
    expect(await run(['get', 'b', 'a', '-o', '-'])).to.deep.equal({
      code: 0,
      stdout: 'ba',
      stderr: '',
    })
    const filtered = await run(['get', '*', '--exclude', 'b', '-o', '-'])
    expect(filtered).to.include({ code: 2, stdout: '' })
    expect(filtered.stderr).to.include('do not go with -o -')
    for (const args of [
      ['get', 'a', 'b', '-o', 'none'],
      ['get', '*', '-o', 'none'],
    ]) {
      const { code, stderr } = await run(args)
      expect({ code, stderr }).to.deep.equal({
        code: 2,
        stderr:
          'holdfast: none is not a directory, and there may be several files. Make it, or write none/.\n',
      })
    }
  })

  it('gives files the times that they have on the server', async () => {
    await store('small')
    await store('large', contentOf(mebibyte))
    const old = new Date(Date.now() - 5000)
    await writeFile(join(site.path, 'small'), 'other')
    await utimes(join(site.path, 'small'), old, old)
    expect((await run(['get', 'small', 'large', '--force'])).code).to.equal(0)
    for (const name of ['small', 'large']) {
      const { modified } = await client().stat(name, { isRounded: true })
      const { mtimeMs } = await stat(join(site.path, name))
      expect(new Date(mtimeMs).toJSON()).to.equal(modified)
    }
  })

  it('leaves what is here with --no-clobber, and what a pattern leaves out', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.log']) await store(name)
    await writeFile(join(site.path, 'a.txt'), 'mine')
    await writeFile(join(site.path, 'list'), 'b.txt\nc.log\n')
    const args = ['get', 'a.txt', '--files-from', 'list', '--exclude', '*.log', '--no-clobber']
    const { code, stderr } = await run(args)
    expect(code).to.equal(0)
    expect(stderr.split('\n')).to.have.members([
      'a.txt is here, and stays',
      'b.txt is downloaded, 5 B',
      '',
    ])
    expect([await read('a.txt'), await read('b.txt')]).to.deep.equal(['mine', 'b.txt'])
    expect(await readdir(site.path)).not.to.include('c.log')
    expect(await run(['get', 'c.log', '--quiet'])).to.include({ code: 0, stdout: '', stderr: '' })
    expect((await run(['get', 'a.txt', '--force', '--no-clobber'])).code).to.equal(2)
  })

  it('leaves also what appears during the download with --no-clobber', async () => {
    await store('large', contentOf(8 * mebibyte))
    await using line = await startBadLine(server().port, [
      { cutAnswerAfter: 4 * mebibyte },
      'silent',
    ])
    const { ended } = start(['get', 'large', '-o', 'own', '--no-clobber'], { port: line.port })
    await until('the client asks for the rest', () => line.connections() >= 2)
    await writeFile(join(site.path, 'own'), 'mine')
    await line[Symbol.asyncDispose]()
    await using whole = await startBadLine(server().port, [], line.port)
    expect(whole.port).to.equal(line.port)
    const { end, stderr } = await ended
    expect(end).to.equal(1)
    expect(stderr).to.include('own has appeared meanwhile, and stays')
    expect(await read('own')).to.equal('mine')
  }).timeout(120_000)

  it('takes as long as --limit-rate says', async () => {
    await store('large', contentOf(mebibyte))
    const before = Date.now()
    expect((await run(['get', 'large', '--limit-rate', '500k'])).code).to.equal(0)
    expect((await run(['put', 'large', '--limit-rate', '500k'])).code).to.equal(0)
    expect(Date.now() - before).to.be.greaterThan(3300)
  })

  it('says what it has done as JSON', async () => {
    await store('a')
    const { etag } = await client().stat('a')
    const { code, stdout } = await run(['get', 'a', 'b', '--json', '--concurrency', '1'])
    expect(code).to.equal(4)
    expect(
      stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown),
    ).to.have.deep.members([
      { name: 'a', path: 'a', size: 1, etag },
      { name: 'b', error: { code: 'not-found', message: 'File not found' } },
    ])
  })

  it('takes no files whose names begin with a dot, unless the pattern does', async () => {
    for (const name of ['.bashrc', 'a', 'a.b']) await store(name)
    expect((await run(['get', '*'])).code).to.equal(0)
    expect((await run(['get', '[.]*', '?bashrc'])).code).to.equal(4)
    expect(await readdir(site.path)).not.to.include('.bashrc')
    expect((await run(['ls', '*'])).stdout).to.equal('a\na.b\n')
    expect((await run(['ls'])).stdout).to.equal('.bashrc\na\na.b\n')
    expect((await run(['rm', '*'])).code).to.equal(0)
    expect((await run(['get', '.b*'])).code).to.equal(0)
    expect(await read('.bashrc')).to.equal('.bashrc')
  })

  it('replaces a file that differs only with --force, or where it is named', async () => {
    for (const name of ['longer', 'other', 'same']) await store(name)
    await writeFile(join(site.path, 'longer'), 'mine')
    await writeFile(join(site.path, 'other'), 'rehto')
    await writeFile(join(site.path, 'same'), 'same')
    const args = ['get', 'longer', 'other', 'same', '--concurrency', '1']
    expect(await run(args)).to.deep.equal({
      code: 1,
      stdout: '',
      stderr:
        'holdfast: longer: There is another file here, longer. --force replaces it.\n' +
        'holdfast: other: There is another file here, other. --force replaces it.\n' +
        'same is downloaded, 4 B\n',
    })
    expect([await read('longer'), await read('other')]).to.deep.equal(['mine', 'rehto'])
    expect(await partials()).to.deep.equal([])
    expect((await run(['get', 'longer', '-o', 'other'])).code).to.equal(0)
    expect(await read('other')).to.equal('longer')
    expect((await run([...args, '--force'])).code).to.equal(0)
    expect([await read('longer'), await read('other')]).to.deep.equal(['longer', 'other'])
  })

  it('gives a file the mode of the one that it replaces, and keeps it private until then', async () => {
    const modeOf = async (path: string) => (await stat(join(site.path, path))).mode & 0o777
    await store('key')
    await writeFile(join(site.path, 'key'), 'other', { mode: 0o600 })
    await writeFile(join(site.path, 'script'), 'other')
    await chmod(join(site.path, 'script'), 0o755)
    await writeFile(join(site.path, 'usual'), '')
    expect((await run(['get', 'key', '--force'])).code).to.equal(0)
    expect((await run(['get', 'key', '-o', 'script'])).code).to.equal(0)
    expect((await run(['get', 'key', '-o', 'new'])).code).to.equal(0)
    expect([await modeOf('key'), await modeOf('script')]).to.deep.equal([0o600, 0o755])
    expect(await modeOf('new')).to.equal(await modeOf('usual'))
    expect([await read('key'), await read('script')]).to.deep.equal(['key', 'key'])
    await store('large', contentOf(40 * mebibyte))
    await writeFile(join(site.path, 'large'), 'mine')
    const { child, ended } = start(['get', 'large', '--force', '--limit-rate', '1M'])
    await until('a part has arrived', async () => (await partials()).length > 0)
    expect(await modeOf((await partials())[0] ?? '')).to.equal(0o600)
    child.kill('SIGKILL')
    await ended
  })

  it('asks on a terminal whether to replace a file', async () => {
    for (const name of ['a', 'b', 'c']) await store(name)
    for (const name of ['a', 'b']) await writeFile(join(site.path, name), 'mine')
    const args = ['get', 'a', 'b', 'c', '--concurrency', '1']
    const answers = [
      ['Replace a by the file of the server? [y/N] ', 'y\r'],
      ['Replace b by the file of the server? [y/N] ', '\r'],
    ] as const
    const { code, shown } = await runOnTerminal(args, answers, { cwd: site.path, env: env() })
    expect(code).to.equal(1)
    expect(shown).to.include('b: The file was not replaced.').and.to.include('c is downloaded')
    expect(await Promise.all(['a', 'b', 'c'].map(read))).to.deep.equal(['a', 'mine', 'c'])
  })

  it('replaces a file, and what a link leads to never', async () => {
    await store('a')
    await writeFile(join(site.path, 'target'), 'mine')
    await symlink('target', join(site.path, 'a'))
    expect((await run(['get', 'a', '--force'])).code).to.equal(0)
    expect(await read('a')).to.equal('a')
    expect(await read('target')).to.equal('mine')
    await mkdir(join(site.path, 'b/a'), { recursive: true })
    const { code, stderr } = await run(['get', 'a', '-o', 'b'])
    expect(code).to.equal(1)
    expect(stderr).to.include('b/a is not a regular file')
  })

  it('goes on after the line was cut', async () => {
    const bytes = contentOf(5 * mebibyte)
    await store('large', bytes)
    await using line = await startBadLine(server().port, [
      { cutAnswerAfter: mebibyte },
      { cutAnswerAfter: 2 * mebibyte },
    ])
    const { code, stderr } = await run(['get', 'large'], line)
    expect(code).to.equal(0)
    expect(stderr.match(/trying again in/g)).to.have.length(2)
    expect(await readDigest('large')).to.equal(digestOf(bytes))
  })

  /** Downloads until the line is cut, and ends the command there. */
  const stopped = async (signal: NodeJS.Signals) => {
    await using line = await startBadLine(server().port, [
      // Of what is on its way then, some is lost.
      { cutAnswerAfter: 60 * mebibyte },
      'silent',
    ])
    const { child, ended } = start(['get', 'large'], line)
    await until('the client asks for the rest', () => line.connections() === 2, 120_000)
    child.kill(signal)
    return { ...(await ended), port: line.port }
  }

  it('goes on where it was killed', async () => {
    const bytes = contentOf(64 * mebibyte)
    await store('large', bytes)
    const { end, port } = await stopped('SIGKILL')
    expect(end).to.equal('SIGKILL')
    expect(await readdir(site.path)).not.to.include('large')
    const [partial = ''] = await partials()
    const durable = durableBytesOf((await stat(join(site.path, partial))).size)
    expect(durable).to.be.greaterThan(0)

    await using line = await startBadLine(server().port, [], port)
    const { code, stderr } = await run(['get', 'large'], line)
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: `holdfast: large continues at ${formatBytes(durable)} of 67.1 MB\nlarge is downloaded, 67.1 MB\n`,
    })
    expect(await readDigest('large')).to.equal(digestOf(bytes))
    expect(await partials()).to.deep.equal([])
  })

  it('begins anew where the file is another one by then', async () => {
    await store('large', contentOf(64 * mebibyte))
    const { end, port } = await stopped('SIGTERM')
    expect(end).to.equal(143)
    const bytes = contentOf(64 * mebibyte).reverse()
    await store('large', bytes)
    await using line = await startBadLine(server().port, [], port)
    const { code, stderr } = await run(['get', 'large'], line)
    expect(code).to.equal(0)
    expect(stderr).to.include(
      'holdfast: large has changed on the server; the download starts again\n',
    )
    expect(await readDigest('large')).to.equal(digestOf(bytes))
    expect(await partials()).to.deep.equal([])
  })

  it('leaves nothing of a small file', async () => {
    await store('large', contentOf(2 * mebibyte))
    await using line = await startBadLine(server().port, [{ cutAnswerAfter: mebibyte }, 'silent'])
    const { child, ended } = start(['get', 'large'], line)
    await until('the client asks for the rest', () => line.connections() === 2, 120_000)
    child.kill('SIGINT')
    expect((await ended).end).to.equal(130)
    expect(await partials()).to.deep.equal([])
  })
})
