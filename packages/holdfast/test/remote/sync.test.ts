import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { holdfastProgram } from '@holdfast/testing'
import { nastyNames } from '@holdfast/contract'
import { expect } from 'chai'
import { useSyncSite } from './sync/support/sync-site.ts'

describe('holdfast sync', function () {
  this.timeout(240_000)
  const site = useSyncSite()

  it('sends what is missing, then nothing, then what has changed', async () => {
    await site.write('a.txt', 'one')
    await site.write('sub/deep/b.txt', 'two')
    await site.write('empty', '')
    await site.write('large', new Uint8Array(300_000))
    expect(await site.run()).to.deep.equal({
      code: 0,
      stdout: 'Sent 4 files, 300 kB; 0 unchanged.\n',
      stderr: '',
    })
    expect(await site.names()).to.deep.equal(['a.txt', 'empty', 'large', 'sub - deep - b.txt'])
    expect((await site.run()).stdout).to.equal('Sent 0 files, 0 B; 4 unchanged.\n')
    await site.write('a.txt', 'eno')
    await site.write('empty', 'no more')
    expect((await site.run()).stdout).to.equal('Sent 2 files, 10 B; 2 unchanged.\n')
    expect(await site.stored()).to.include({ 'a.txt': 'eno', empty: 'no more' })
  })

  it('stores all names under which files may lie, byte for byte', async () => {
    const names = nastyNames.filter((name) => Buffer.byteLength(name) <= 255)
    for (const name of names) await site.write(name, `content of ${name}`)
    const { code, stderr } = await site.run()
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    const stored = await site.stored()
    expect(Object.keys(stored)).to.have.length(names.length)
    for (const name of names) expect(stored[name]).to.equal(`content of ${name}`)
    expect((await site.run()).stdout).to.match(/^Sent 0 files, 0 B; \d+ unchanged\.\n$/)
  })

  it('sends into a folder, and looks at nothing else on the server', async () => {
    await site.client().upload('other', 'x')
    await site.client().upload('photos - old.jpg', 'x')
    await site.write('sea/a.jpg', 'blue')
    const { stdout } = await site.run(['--into', 'photos', '--delete'])
    expect(stdout).to.equal('Sent 1 file, 4 B; deleted 1; 0 unchanged.\n')
    expect(await site.names()).to.deep.equal(['other', 'photos - sea - a.jpg'])
  })

  it('replaces what another client has stored, and sends nothing that is the same already', async () => {
    await site.write('a', 'own')
    await site.write('b', 'own')
    await site.client().upload('a', 'own')
    await site.client().upload('b', 'his')
    expect((await site.run()).stdout).to.equal('Sent 1 file, 3 B; 1 unchanged.\n')
    await site.client().upload('a', 'her')
    expect((await site.run()).stdout).to.equal('Sent 1 file, 3 B; 1 unchanged.\n')
    expect(await site.stored()).to.deep.equal({ a: 'own', b: 'own' })
  })

  it('says in a dry run what it would do, and does nothing', async () => {
    await site.client().upload('gone', 'x')
    await site.client().upload('same', 'x')
    await site.write('same', 'x')
    await site.write('a/b', '12')
    await symlink('same', join(site.directory, 'link'))
    const { code, stdout } = await site.run(['--dry-run', '--delete'])
    expect(code).to.equal(0)
    expect(stdout.split('\n')).to.have.members([
      'skip link (symbolic link)',
      'send a/b as "a - b" (2 B)',
      'delete gone',
      'Would send 1 file, 2 B; would delete 1; 1 unchanged; 1 skipped.',
      '',
    ])
    expect(await site.stored()).to.deep.equal({ gone: 'x', same: 'x' })
  })

  it('says with --json what it has done with each file', async () => {
    await site.client().upload('gone', 'x')
    await site.write('a/b', '12')
    await promisify(execFile)('mkfifo', [join(site.directory, 'pipe')])
    const { code, stdout } = await site.run(['--json', '--delete'])
    expect(code).to.equal(0)
    const lines = stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.have.deep.members([
      { action: 'skip', path: 'pipe', name: 'pipe', reason: 'special file' },
      { action: 'send', path: 'a/b', name: 'a - b', size: 2 },
      { action: 'delete', name: 'gone' },
      { summary: { sent: 1, sentBytes: 2, unchanged: 0, deleted: 1, skipped: 1, failed: 0 } },
    ])
  })

  /** The exit code where standard output has no reader from the beginning. */
  const runUnread = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [holdfastProgram, 'sync', 'directory', ...args], {
      cwd: site.path,
      env: { ...process.env, ...site.environment },
    })
    child.stdout.destroy()
    const [said, [code]] = await Promise.all([
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ])
    return { said, code }
  }

  it('ends with 141 where its output is not read, and goes on the next time', async () => {
    for (const name of ['a', 'b', 'c']) await site.write(name, 'x'.repeat(300_000))
    expect(await runUnread('--json', '--concurrency', '1')).to.deep.equal({ said: '', code: 141 })
    expect((await site.names()).length).to.be.below(3)
    // Only the summary comes to nothing.
    expect(await runUnread()).to.deep.equal({ said: '', code: 0 })
    expect(await site.names()).to.deep.equal(['a', 'b', 'c'])
    expect(await runUnread('--json')).to.deep.equal({ said: '', code: 0 })
    expect(await runUnread('--dry-run')).to.deep.equal({ said: '', code: 0 })
  })

  it('refuses two files of one name before anything is sent', async () => {
    await site.write('a - b', '1')
    await site.write('a/b', '2')
    await site.write('c', '3')
    expect(await site.run()).to.deep.equal({
      code: 1,
      stdout: '',
      stderr:
        'holdfast: Nothing was changed, because several files would have the same name on the server: a - b and a/b: a - b. Rename one of each pair.\n',
    })
    expect(await site.names()).to.deep.equal([])
  })

  it('deletes no more files than it may, and otherwise changes nothing', async () => {
    for (const name of ['x', 'y', 'z']) await site.client().upload(name, name)
    await site.write('new', 'new')
    const { code, stdout, stderr } = await site.run(['--delete', '--max-delete', '2'])
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
    expect(stderr).to.include('3 files exist only on the server, and at most 2 may be deleted')
    expect(await site.names()).to.deep.equal(['x', 'y', 'z'])
    expect((await site.run()).code).to.equal(0)
    expect(await site.names()).to.deep.equal(['new', 'x', 'y', 'z'])
    expect((await site.run(['--delete', '--max-delete', '3'])).code).to.equal(0)
    expect(await site.names()).to.deep.equal(['new'])
  })

  it('deletes nothing for an empty directory', async () => {
    await site.client().upload('x', 'x')
    const { code, stderr } = await site.run(['--delete'])
    expect(code).to.equal(1)
    expect(stderr).to.include('has no files, and with --delete nothing would be left')
    expect(await site.names()).to.deep.equal(['x'])
  })

  it('deletes nothing where a directory cannot be read, and sends the others', async () => {
    await site.client().upload('x', 'x')
    await site.write('a', 'a')
    await site.write('closed/b', 'b')
    await chmod(join(site.directory, 'closed'), 0)
    await chmod(site.directory, 0o755)
    const state = join(site.path, 'own')
    await mkdir(state)
    await chmod(state, 0o777)
    const env = { ...site.environment, XDG_STATE_HOME: state }
    const { code, stdout, stderr } = await site.run(['--delete'], { env, obeysPermissions: true })
    expect(code).to.equal(1)
    expect(stdout).to.equal('Sent 1 file, 1 B; 0 unchanged; 1 failed.\n')
    expect(stderr).to.include('closed: Permission denied').and.to.include('Nothing was deleted')
    expect(await site.names()).to.deep.equal(['a', 'x'])
    await chmod(join(site.directory, 'closed'), 0o755)
  })

  it('sends where its state cannot be written, and says so', async () => {
    await site.write('a', 'a')
    await writeFile(join(site.path, 'file'), '')
    const env = { ...site.environment, XDG_STATE_HOME: join(site.path, 'file') }
    const { code, stderr } = await site.run([], { env })
    expect(code).to.equal(0)
    expect(stderr).to.include('The record of this run cannot be written')
    expect((await site.run([], { env })).stdout).to.equal('Sent 0 files, 0 B; 1 unchanged.\n')
  })

  it('keeps its state for this user only, where the system has such things', async () => {
    await site.write('a', 'a')
    const state = join(site.path, 'state-home')
    const env = { ...site.environment, XDG_STATE_HOME: state }
    expect((await site.run([], { env })).code).to.equal(0)
    const [id = ''] = await readdir(join(state, 'holdfast/sync'))
    expect(await readdir(join(state, 'holdfast/sync', id))).to.include('state.jsonl')
  })

  it('leaves alone what patterns leave out, here and on the server', async () => {
    for (const path of ['a.txt', 'b.txt', 'cache/c', 'd.log']) await site.write(path, path)
    const args = ['--exclude', '*.log', '--exclude', 'cache/', '--delete']
    await site.client().upload('unknown.txt', 'of another client')
    await site.client().upload('cache - old', 'x')
    expect((await site.run(args)).stdout).to.equal('Sent 2 files, 10 B; 0 unchanged.\n')
    await site.remove('b.txt')
    // Only of b.txt a record says that it came from here, and was not left out.
    expect((await site.run(args)).stdout).to.equal('Sent 0 files, 0 B; deleted 1; 1 unchanged.\n')
    expect(await site.names()).to.deep.equal(['a.txt', 'cache - old', 'unknown.txt'])
  })

  it('sends no download that has not ended, and with --quiet says nothing', async () => {
    await site.write('a', 'a')
    await site.write('.holdfast-x.part', 'half')
    expect(await site.run(['--quiet'])).to.deep.equal({ code: 0, stdout: '', stderr: '' })
    expect(await site.names()).to.deep.equal(['a'])
  })

  it('deletes nothing that has the name of a download that has not ended, as pull fetches no such file', async () => {
    await site.write('a', 'a')
    await site.write('.holdfast-x.part', 'half')
    await site.write('sub/.holdfast-x.part', 'half')
    await site.write('.holdfast-y.part/b', 'b')
    const kept = [
      '.holdfast-x.part',
      '.holdfast-y.part - b',
      '.holdfast-z - 1.part',
      'sub - .holdfast-x.part',
    ]
    for (const name of [...kept, 'a.holdfast-x.part', '.holdfast-x.parts']) {
      await site.client().upload(name, 'of another client')
    }
    expect((await site.run(['--delete', '--max-delete', '2'])).stdout).to.equal(
      'Sent 1 file, 1 B; deleted 2; 0 unchanged.\n',
    )
    expect(await site.names()).to.have.members([...kept, 'a'])
    const { stdout } = await site.run(['--into', '.holdfast-y.part', '--delete'])
    expect(stdout).to.equal('Sent 1 file, 1 B; deleted 1; 0 unchanged.\n')
  })

  it('with --checksum sends a file whose size and times say that it is the same', async () => {
    await site.write('a', 'good')
    const old = new Date(Date.now() - 60_000)
    await utimes(join(site.directory, 'a'), old, old)
    expect((await site.run()).code).to.equal(0)
    await site.write('a', 'evil')
    await utimes(join(site.directory, 'a'), old, old)
    expect((await site.run(['--checksum'])).stdout).to.equal('Sent 1 file, 4 B; 0 unchanged.\n')
  })

  it('explains mistakes, and ends with 2', async () => {
    for (const [args, message] of [
      [['other'], 'Say one directory'],
      [['--max-delete', '3'], '--max-delete needs --delete'],
      [['--delete', '--max-delete', 'x'], '--max-delete must be a whole number, not "x"'],
      [['--delte'], '--delete'],
    ] as const) {
      const { code, stdout, stderr } = await site.run(args)
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.include(message)
    }
  })

  it('ends with 4 where there is no directory, and with 3 where the login is wrong', async () => {
    const env = { ...site.environment, HOLDFAST_PASSWORD: 'wrong' }
    await site.write('a', 'a')
    const { code, stderr } = await site.run([], { env })
    expect(code).to.equal(3)
    expect(stderr).to.include('Invalid credentials')
    await site.remove('.')
    const missing = await site.run()
    expect(missing.code).to.equal(4)
    expect(missing.stderr).to.include('directory does not exist')
  })
})
