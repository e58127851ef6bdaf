import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { startBadLine, until } from '@holdfast/testing'
import { expect } from 'chai'
import { versionToRecord } from '../../src/remote/sync/pull-directory.ts'
import { contentOf, digestOf, mebibyte, useLogin } from './support/logged-in.ts'

describe('holdfast pull', function () {
  this.timeout(180_000)
  const { site, run, start, client, server } = useLogin()
  const store = (name: string, content: string | Uint8Array = name) =>
    client().upload(name, content)
  const at = (path: string) => join(site.path, path)
  const read = (path: string) => readFile(at(path), 'utf8')
  const write = async (path: string, content: string) => {
    await mkdir(join(at(path), '..'), { recursive: true })
    await writeFile(at(path), content)
  }
  /** All files below a directory, without those that it has not placed yet. */
  const filesIn = async (path: string) => {
    const entries = await readdir(at(path), { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(at(path).length + 1))
      .toSorted()
  }

  it('fetches what is missing, then nothing, then what has changed', async () => {
    await store('a.txt', 'one')
    await store('sub - b.txt', 'two')
    await store('large', contentOf(300_000))
    expect(await run(['pull', 'dir'])).to.deep.equal({
      code: 0,
      stdout: 'Fetched 3 files, 300 kB; 0 unchanged.\n',
      stderr: '',
    })
    expect(await filesIn('dir')).to.deep.equal(['a.txt', 'large', 'sub - b.txt'])
    expect((await run(['pull', 'dir'])).stdout).to.equal('Fetched 0 files, 0 B; 3 unchanged.\n')
    await store('a.txt', 'eno')
    await writeFile(at('dir/sub - b.txt'), 'mine')
    expect((await run(['pull', 'dir'])).stdout).to.equal('Fetched 2 files, 6 B; 1 unchanged.\n')
    expect([await read('dir/a.txt'), await read('dir/sub - b.txt')]).to.deep.equal(['eno', 'two'])
    expect(digestOf(await readFile(at('dir/large')))).to.equal(digestOf(contentOf(300_000)))
  })

  it('skips a file with the name of a download that has not ended, and still deletes', async () => {
    await store('in - a')
    await store('in - .holdfast-x.part', 'not mine')
    await write('dir/gone', 'gone')
    for (const rest of [
      'Fetched 1 file, 6 B; deleted 1; 0 unchanged.',
      'Fetched 0 files, 0 B; 1 unchanged.',
    ]) {
      const { code, stdout, stderr } = await run(['pull', 'dir', '--into', 'in', '--delete'])
      expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${rest}\n` })
      expect(stderr).to.equal(
        'holdfast: in - .holdfast-x.part is skipped: downloads that have not ended have such names here\n',
      )
    }
    expect(await filesIn('dir')).to.deep.equal(['a'])
  })

  it('fetches small files together, also those of other directories, and large ones alone', async () => {
    const names = Array.from({ length: 1100 }, (_, index) => `small ${index}`)
    for (const name of names) await write(`tree/${name.at(-1)}/${name}`, name)
    await write('tree/large', 'x'.repeat(300_000))
    expect((await run(['sync', 'tree'])).code).to.equal(0)
    // The paths come from the record of sync.
    await rename(at('tree'), at('sent'))
    const { code, stdout } = await run(['pull', 'tree'])
    expect({ code, stdout: stdout.split(',')[0] }).to.deep.equal({
      code: 0,
      stdout: 'Fetched 1101 files',
    })
    expect(await filesIn('tree')).to.deep.equal(await filesIn('sent'))
    for (const name of names) expect(await read(`tree/${name.at(-1)}/${name}`)).to.equal(name)
    const asked = server()
      .lines()
      .flatMap(({ path }) => (String(path).startsWith('/serve/') ? [path] : []))
    expect(asked).to.have.members(['/serve/batch', '/serve/batch', '/serve/large'])
  })

  it('gives files the paths that sync has sent them from, and their times', async () => {
    for (const path of ['a - b', 'sea/deep/c', '.hidden/d']) await write(`dir/${path}`, path)
    expect((await run(['sync', 'dir', '--into', 'photos'])).code).to.equal(0)
    await rm(at('dir'), { recursive: true })
    expect((await run(['pull', 'dir', '--into', 'photos'])).code).to.equal(0)
    expect(await filesIn('dir')).to.deep.equal(['.hidden/d', 'a - b', 'sea/deep/c'])
    const { modified } = await client().stat('photos - a - b')
    expect((await stat(at('dir/a - b'))).mtime.toJSON()).to.equal(modified)
    // Another directory has no record of the paths.
    expect((await run(['pull', 'other', '--into', 'photos'])).code).to.equal(0)
    expect(await filesIn('other')).to.deep.equal(['.hidden - d', 'a - b', 'sea - deep - c'])
    for (const dir of ['dir', 'other']) {
      const { stdout } = await run(['sync', dir, '--into', 'photos'])
      expect(stdout).to.equal('Sent 0 files, 0 B; 3 unchanged.\n')
    }
  })

  it('fetches nothing that is the same already, wherever in the directory it is', async () => {
    await store('a - b', 'same')
    await write('dir/a/b', 'same')
    expect((await run(['pull', 'dir'])).stdout).to.equal('Fetched 0 files, 0 B; 1 unchanged.\n')
    await store('a - b', 'new')
    expect((await run(['pull', 'dir'])).stdout).to.equal('Fetched 1 file, 3 B; 0 unchanged.\n')
    expect(await filesIn('dir')).to.deep.equal(['a/b'])
  })

  it('says in a dry run what it would do, and does nothing', async () => {
    await store('new', '12')
    await store('same', 'x')
    expect((await run(['pull', 'dir', '--dry-run'])).stdout).to.equal(
      'fetch new (2 B)\nfetch same (1 B)\nWould fetch 2 files, 3 B; 0 unchanged.\n',
    )
    expect(await readdir(site.path)).not.to.include('dir')
    await write('dir/same', 'x')
    await write('dir/gone', 'x')
    const { code, stdout } = await run(['pull', 'dir', '--dry-run', '--delete'])
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout:
        'fetch new (2 B)\ndelete gone\nWould fetch 1 file, 2 B; would delete 1; 1 unchanged.\n',
    })
    expect(await filesIn('dir')).to.deep.equal(['gone', 'same'])
  })

  it('says with --json what it has done with each file', async () => {
    await store('a', '12')
    await write('dir/gone', 'x')
    const { stdout } = await run(['pull', 'dir', '--delete', '--json'])
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).to.deep.equal([
      { action: 'fetch', path: 'a', name: 'a', size: 2 },
      { action: 'delete', name: 'gone', path: 'gone' },
      { summary: { fetched: 1, fetchedBytes: 2, unchanged: 0, deleted: 1, failed: 0 } },
    ])
  })

  it('deletes no more files than it may, and none where the server has none', async () => {
    for (const name of ['x', 'y', 'z']) await write(`dir/${name}`, name)
    const none = await run(['pull', 'dir', '--delete'])
    expect(none.code).to.equal(1)
    expect(none.stderr).to.include('nothing would be left here')
    await store('new')
    const many = await run(['pull', 'dir', '--delete', '--max-delete', '2'])
    expect(many.code).to.equal(1)
    expect(many.stderr).to.include('3 files exist only here, and at most 2 may be deleted')
    expect(await filesIn('dir')).to.deep.equal(['x', 'y', 'z'])
    expect((await run(['pull', 'dir'])).code).to.equal(0)
    expect(await filesIn('dir')).to.deep.equal(['new', 'x', 'y', 'z'])
    expect((await run(['pull', 'dir', '--delete'])).stdout).to.include('deleted 3')
    expect(await filesIn('dir')).to.deep.equal(['new'])
  })

  it('deletes nothing where a file could not be fetched', async () => {
    await store('a')
    await mkdir(at('dir/a'), { recursive: true })
    await write('dir/only', 'here')
    const { code, stdout, stderr } = await run(['pull', 'dir', '--delete'])
    expect({ code, stdout }).to.deep.equal({
      code: 1,
      stdout: 'Fetched 0 files, 0 B; 0 unchanged; 1 failed.\n',
    })
    expect(stderr).to.include('Nothing was deleted')
    expect(await filesIn('dir')).to.deep.equal(['only'])
  })

  it('never writes through a symbolic link', async () => {
    await write('dir/sea/a', 'a')
    await write('dir/link', 'b')
    expect((await run(['sync', 'dir'])).code).to.equal(0)
    await rm(at('dir'), { recursive: true })
    await mkdir(at('dir'))
    await mkdir(at('outside'))
    await symlink('../outside', at('dir/sea'))
    await symlink('../outside/b', at('dir/link'))
    const { code, stdout, stderr } = await run(['pull', 'dir'])
    expect(code).to.equal(1)
    expect(stdout).to.equal('Fetched 0 files, 0 B; 0 unchanged; 2 failed.\n')
    expect(stderr).to.match(/sea.* symbolic link/)
    expect(stderr).to.match(/^holdfast: link: It is a symbolic link here, and stays$/m)
    expect(await readdir(at('outside'))).to.deep.equal([])
  })

  it('takes no file that is not here for one, where a directory cannot be read', async () => {
    await write('dir/closed/a', 'a')
    expect((await run(['sync', 'dir'])).code).to.equal(0)
    await chmod(at('dir/closed'), 0)
    await chmod(at('dir'), 0o777)
    // Without the record, the name would become the path `closed - a`.
    await rm(at('state'), { recursive: true })
    const { code, stderr } = await run(['pull', 'dir'], { obeysPermissions: true })
    await chmod(at('dir/closed'), 0o755)
    expect(code).to.equal(1)
    expect(stderr).to.include('closed: Permission denied')
    expect(await filesIn('dir')).to.deep.equal(['closed/a'])
  })

  it('goes on after it was killed, and shows nothing half', async () => {
    const bytes = contentOf(64 * mebibyte)
    await store('large', bytes)
    const line = await startBadLine(server().port, [{ cutAnswerAfter: 60 * mebibyte }, 'silent'])
    // The first request is for the list.
    const { child, ended } = start(['pull', 'dir'], line)
    await until('the client asks for the rest', () => line.connections() >= 2, 120_000)
    child.kill('SIGKILL')
    await ended
    await line[Symbol.asyncDispose]()
    const files = await filesIn('dir')
    expect(files.filter((name) => !name.endsWith('.part'))).to.deep.equal([])
    await using whole = await startBadLine(server().port, [], line.port)
    const { code, stderr } = await run(['pull', 'dir'], whole)
    expect(code).to.equal(0)
    expect(stderr).to.match(/^holdfast: large continues at .* of 67.1 MB\n$/)
    expect(await filesIn('dir')).to.deep.equal(['large'])
    expect(digestOf(await readFile(at('dir/large')))).to.equal(digestOf(bytes))
  })

  it('says so where a file was replaced during a broken download, and keeps the one here', async () => {
    await store('large', contentOf(16 * mebibyte))
    await write('dir/large', 'earlier')
    const fates = [{ cutAnswerAfter: 8 * mebibyte }, ...Array<'unanswered'>(3).fill('unanswered')]
    await using line = await startBadLine(server().port, fates)
    const ended = run(['pull', 'dir'], line)
    await until('the client asks for the rest', () => line.connections() >= 2)
    await store('large', 'replaced')
    const { code, stderr } = await ended
    expect(code).to.equal(5)
    expect(stderr).to.match(/^holdfast: large: The file was replaced on the server meanwhile$/m)
    expect(await read('dir/large')).to.equal('earlier')
  })

  it('deletes no more than it may, also beside a directory that it leaves out and cannot read', async () => {
    await store('a')
    for (const name of ['one', 'two', 'three']) await write(`dir/${name}`, name)
    await write('dir/closed/b', 'b')
    await chmod(at('dir/closed'), 0o000)
    const args = ['pull', 'dir', '--delete', '--max-delete', '2', '--exclude', 'closed/']
    const { code, stderr } = await run(args, { obeysPermissions: true })
    await chmod(at('dir/closed'), 0o755)
    expect(code).to.equal(1)
    expect(stderr).to.include('Nothing was deleted: more than 2 files are not on the server')
    expect(await filesIn('dir')).to.include.members(['one', 'two', 'three'])
  })

  it('with --checksum reads files whose size and times say that they are the same', async () => {
    await store('a', 'good')
    for (let count = 0; count < 2; count++) await run(['pull', 'dir'])
    const { mtime, atime } = await stat(at('dir/a'))
    await writeFile(at('dir/a'), 'evil')
    await utimes(at('dir/a'), atime, mtime)
    expect((await run(['pull', 'dir', '--checksum'])).stdout).to.equal(
      'Fetched 1 file, 4 B; 0 unchanged.\n',
    )
    expect(await read('dir/a')).to.equal('good')
  })

  it('leaves alone what the patterns leave out, on both sides', async () => {
    for (const name of ['a.log', 'b.txt', 'c.txt']) await store(name)
    await write('dir/own.log', 'mine')
    await write('dir/own.txt', 'mine')
    const args = ['pull', 'dir', '--delete', '--exclude', '*.log', '--exclude', 'c.*']
    expect((await run(args)).stdout).to.equal('Fetched 1 file, 5 B; deleted 1; 0 unchanged.\n')
    expect(await filesIn('dir')).to.deep.equal(['b.txt', 'own.log'])
  })

  it('fails with each path that is asked for by name and is not there', async () => {
    for (const name of ['a', 'b']) await store(name)
    await writeFile(at('list'), './a\nnone\nb\nleft-out\n')
    const args = ['pull', 'dir', '--files-from', 'list', '--exclude', 'left-*']
    expect(await run(args)).to.deep.equal({
      code: 4,
      stdout: 'Fetched 2 files, 2 B; 0 unchanged; 1 failed.\n',
      stderr: 'holdfast: none: There is no such file\n',
    })
    await symlink('a', at('dir/link'))
    await writeFile(at('list'), 'a\nnone\nlink\n')
    const sync = await run(['sync', 'dir', '--files-from', 'list'])
    expect({ ...sync, stderr: sync.stderr.split('\n') }).to.deep.equal({
      code: 1,
      stdout: 'Sent 0 files, 0 B; 1 unchanged; 2 failed.\n',
      stderr: [
        'holdfast: link: It is a symbolic link, and is left out',
        'holdfast: none: There is no such file',
        '',
      ],
    })
    const verify = await run(['verify', 'dir', '--files-from', 'list'])
    expect(verify.code).to.equal(1)
    expect(verify.stdout).to.equal('Read 1 file, 1 B; 1 the same; 2 failed.\n')
  })

  it('takes a list as find writes it, and the paths in it for those that the names were made of', async () => {
    await store('photos - sub - a', 'a')
    await store('photos - b', 'b')
    await mkdir(at('dir/empty'), { recursive: true })
    await writeFile(at('list'), '\ufeff.\n./empty\nempty/\n./sub/a\r\nb\n')
    const args = ['dir', '--into', 'photos', '--files-from', 'list']
    expect(await run(['verify', ...args])).to.include({
      code: 1,
      stdout:
        'photos - b: only on the server\nphotos - sub - a: only on the server\nRead 0 files, 0 B; 0 the same; 2 only on the server.\n',
    })
    expect(await run(['pull', ...args])).to.deep.equal({
      code: 0,
      stdout: 'Fetched 2 files, 2 B; 0 unchanged.\n',
      stderr: '',
    })
    expect(await filesIn('dir')).to.deep.equal(['b', 'sub/a'])
    expect((await run(['sync', ...args])).stdout).to.equal('Sent 0 files, 0 B; 2 unchanged.\n')
  })

  it('deletes what is listed and gone, also where more of the list is gone since', async () => {
    for (const name of ['a', 'b', 'c']) await write(`dir/${name}`, name)
    await writeFile(at('list'), 'a\nb\nc\n')
    const args = ['sync', 'dir', '--files-from', 'list', '--delete']
    expect((await run(args)).code).to.equal(0)
    await rm(at('dir/a'))
    expect(await run(args)).to.include({
      code: 0,
      stdout: 'Sent 0 files, 0 B; deleted 1; 2 unchanged.\n',
    })
    await rm(at('dir/b'))
    const again = await run(args)
    expect(again).to.include({
      code: 4,
      stdout: 'Sent 0 files, 0 B; deleted 1; 1 unchanged; 1 failed.\n',
    })
    expect(again.stderr).to.equal('holdfast: a: There is no such file\n')
  })

  it('says nothing of the listed paths below a directory that cannot be read', async () => {
    await write('dir/closed/a', 'a')
    await writeFile(at('list'), 'closed/a\n')
    await chmod(at('dir'), 0o777)
    await chmod(at('dir/closed'), 0)
    const args = ['sync', 'dir', '--files-from', 'list']
    const { stderr } = await run(args, { obeysPermissions: true })
    await chmod(at('dir/closed'), 0o755)
    expect(stderr).to.match(/^holdfast: closed: Permission denied.*\n$/)
  })

  it('fetches no file under its name that is here in a directory which is left out', async () => {
    await store('cache - a', 'theirs')
    await store('b')
    await write('dir/cache/a', 'mine')
    expect((await run(['verify', 'dir', '--exclude', 'cache/'])).stdout).to.equal(
      'b: only on the server\nRead 0 files, 0 B; 0 the same; 1 only on the server.\n',
    )
    expect((await run(['pull', 'dir', '--exclude', 'cache/', '--delete'])).stdout).to.equal(
      'Fetched 1 file, 1 B; 0 unchanged.\n',
    )
    expect(await filesIn('dir')).to.deep.equal(['b', 'cache/a'])
    expect(await read('dir/cache/a')).to.equal('mine')
  })

  it('explains mistakes, and ends with 2', async () => {
    for (const [args, message] of [
      [['pull'], 'Say one directory. Such as: holdfast pull ./photos'],
      [['pull', 'a', 'b'], 'Say one directory'],
      [['pull', 'a', '--max-delete', '3'], '--max-delete needs --delete'],
      [['pull', 'a', '--limit-rate', 'fast'], '--limit-rate "fast" is not a size'],
      [['pull', 'a', '--exclude', '!keep'], '--exclude "!keep": no pattern takes back'],
      [['pull', 'a', '--files-from', 'none'], '--files-from cannot be read'],
    ] as const) {
      const { code, stderr } = await run(args)
      expect(stderr).to.include(message)
      expect(code).to.equal(2)
    }
  })
})

describe('holdfast verify', function () {
  this.timeout(60_000)
  const { site, run, client } = useLogin()
  const write = (path: string, content: string) => writeFile(join(site.path, 'dir', path), content)
  beforeEach(() => mkdir(join(site.path, 'dir')))

  it('reads both sides, and reports each difference with exit code 1', async () => {
    for (const name of ['same', 'altered', 'longer', 'only-there'])
      await client().upload(name, name)
    await write('same', 'same')
    expect(await run(['verify', 'dir', '--include', 'same'])).to.deep.equal({
      code: 0,
      stdout: 'Read 1 file, 4 B; 1 the same.\n',
      stderr: '',
    })
    await write('altered', 'ALTERED')
    await write('longer', 'x')
    await write('only-here', 'x')
    const { code, stdout } = await run(['verify', 'dir', '--concurrency', '1'])
    expect(code).to.equal(1)
    expect(stdout.split('\n')).to.have.members([
      'altered: the contents differ',
      'longer: the sizes differ',
      'only-here: only here',
      'only-there: only on the server',
      'Read 3 files, 12 B; 1 the same; 2 different; 1 only here; 1 only on the server.',
      '',
    ])
  })

  it('reports a link here where the server has a file', async () => {
    await client().upload('link', 'x')
    await symlink('elsewhere', join(site.path, 'dir/link'))
    const { code, stdout } = await run(['verify', 'dir'])
    expect(code).to.equal(1)
    expect(stdout).to.equal(
      'link: a symbolic link here, a file on the server\nRead 0 files, 0 B; 0 the same; 1 different.\n',
    )
  })

  it('finds what the record of sync does not say', async () => {
    await write('a', 'good')
    expect((await run(['sync', 'dir'])).code).to.equal(0)
    await write('a', 'evil')
    expect((await run(['verify', 'dir', '--json'])).stdout.split('\n')[0]).to.equal(
      '{"action":"differ","name":"a","path":"a","how":"the contents differ"}',
    )
  })
})

describe('versionToRecord', () => {
  const now = { size: 1, version: '1-2-3', isFresh: false }

  it('is the version of a file that is as it was placed', () => {
    expect(versionToRecord('1-2-3', now)).to.equal('1-2-3')
  })

  it('is none of a file that was edited since, or is gone, or is so new that an edit would not show', () => {
    expect(versionToRecord('1-2-4', now)).to.equal('')
    expect(versionToRecord('1-2-3', undefined)).to.equal('')
    expect(versionToRecord('1-2-3', { ...now, isFresh: true })).to.equal('')
  })
})
