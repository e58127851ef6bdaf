import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileCredentialSource } from '@holdfast/credentials-file'
import { createPasswordVerifier } from '@holdfast/passwords'
import { createSite, runHoldfast, type Site } from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast customers', () => {
  let site: Site
  let path: string
  beforeEach(async () => {
    site = await createSite()
    path = join(site.path, 'new.yaml')
  })
  afterEach(() => site.remove())

  const customers = (args: readonly string[], input?: string) =>
    runHoldfast(['customers', ...args], {
      cwd: site.path,
      env: { HOLDFAST_CUSTOMERS: './new.yaml' },
      ...(input !== undefined && { input }),
    })

  const isPasswordOf = async (name: string, password: string) => {
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    const credential = source.find(name)
    await source.close()
    return createPasswordVerifier()(password, credential?.passwordHash)
  }

  it('adds a customer, and prints nothing but the password on standard output', async () => {
    const { code, stdout, stderr } = await customers(['add', 'alice', '--quota', '50GB'])
    expect(code).to.equal(0)
    expect(stdout).to.match(/^[\w-]{20,}\n$/)
    expect(stderr).to.equal('The password of "alice", shown only now:\n')
    expect(await isPasswordOf('alice', stdout.trim())).to.equal(true)
    const text = await readFile(path, 'utf8')
    expect(text).to.match(/name: alice\n\s+password: \$scrypt\$.*\n\s+quota: 50GB/)
    expect(text).not.to.include(stdout.trim())
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
  })

  it('adds a customer with a number of files beside the quota', async () => {
    const limits = ['--quota', '1kB', '--max-files', '20']
    expect((await customers(['add', 'alice', ...limits])).code).to.equal(0)
    expect(await readFile(path, 'utf8')).to.match(/\n\s+quota: 1kB\n\s+maxFiles: 20\n/)
  })

  it('takes a password from standard input, without its line end and otherwise to the byte', async () => {
    const { code, stdout } = await customers(['add', 'zoë', '--password-stdin'], 'a  b\tç\r\n')
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '' })
    expect(await isPasswordOf('zoë', 'a  b\tç')).to.equal(true)
  })

  it('refuses an empty password, and writes nothing', async () => {
    const { code, stderr } = await customers(['add', 'alice', '--password-stdin'], '\n')
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'holdfast: Standard input holds no password.\n',
    })
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
  })

  it('takes names as they are: digits, spaces, a dash, any script', async () => {
    const names = ['007', 'two words', '日本', '-x', '1e3', 'true']
    await Promise.all(names.map((name) => customers(['add', '--', name])))
    const { stdout } = await customers(['list'])
    expect(stdout.split('\n')).to.have.members([...names, ''])
    expect((await customers(['add', '0x10'])).code).to.equal(0)
    expect((await customers(['remove', '007'])).code).to.equal(0)
    expect((await customers(['list'])).stdout.split('\n'))
      .to.include('0x10')
      .and.not.include('007')
  })

  it('loses none of several edits at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const outcomes = await Promise.all(names.map((name) => customers(['add', name])))
    expect(outcomes.map(({ code }) => code)).to.deep.equal(names.map(() => 0))
    expect((await customers(['list'])).stdout.trim().split('\n')).to.have.members(names)
    for (const [index, { stdout }] of outcomes.entries()) {
      expect(await isPasswordOf(names[index]!, stdout.trim()), names[index]).to.equal(true)
    }
  })

  it('gives a new password with rotate, after which the old one is wrong', async () => {
    const first = (await customers(['add', 'alice'])).stdout.trim()
    const second = (await customers(['rotate', 'alice'])).stdout.trim()
    expect(second).not.to.equal(first)
    expect(await isPasswordOf('alice', second)).to.equal(true)
    expect(await isPasswordOf('alice', first)).to.equal(false)
    await customers(['rotate', 'alice', '--password-stdin'], 'my own\n')
    expect(await isPasswordOf('alice', 'my own')).to.equal(true)
  })

  it('removes a customer and says that the files stay', async () => {
    await customers(['add', 'alice'])
    const { code, stdout, stderr } = await customers(['remove', 'alice'])
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '' })
    expect(stderr).to.include('The files of "alice" are still in the store.')
    expect(await customers(['list'])).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: './new.yaml has no customers.\n',
    })
  })

  it('keeps the comments of the file', async () => {
    await site.write(
      'new.yaml',
      `# ours\ncustomers:\n  - name: bob # builder\n    password: plain\n`,
    )
    await customers(['add', 'alice'])
    expect(await readFile(path, 'utf8')).to.match(/^# ours\n[^]*bob # builder/)
  })

  it('edits the file that the server reads: by flag, variable or configuration file', async () => {
    await site.write('h.yaml', 'customers: ./by-file.yaml\n')
    const add = (args: readonly string[], env: Record<string, string>) =>
      runHoldfast(['customers', 'add', 'a', ...args], { cwd: site.path, env })
    await add([], { HOLDFAST_CONFIG: 'h.yaml' })
    await add(['--config', 'h.yaml'], { HOLDFAST_CUSTOMERS: 'by-variable.yaml' })
    await add(['--customers', 'by-flag.yaml'], {
      HOLDFAST_CUSTOMERS: 'x',
      HOLDFAST_CONFIG: 'h.yaml',
      // Not read for this.
      HOLDFAST_PORT: 'tcp://10.0.0.1:3000',
    })
    expect(await readdir(site.path)).to.have.members([
      'customers.yaml',
      'h.yaml',
      'by-file.yaml',
      'by-variable.yaml',
      'by-flag.yaml',
    ])
  })

  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [['add', 'bob'], 'has a customer "bob" already. A new password: holdfast customers rotate bob'],
    [['remove', 'bop'], 'has no customer "bop"; did you mean "bob"?'],
    [['rotate', 'nobody'], 'has no customer "nobody"'],
    [['add', 'a/b'], 'has no customer "a". CUSTOMER/LOGIN is a further login of a customer'],
    [['add', ' a'], 'The name " a" begins or ends with a space, which HTTP takes off'],
    [['add', 'alice', '--quota', '10G'], 'the quota is not a size'],
    [['add', 'alice', '--max-files', '1e3'], 'the number of files is not a whole number'],
    [['add', 'alice', '--max-file', '1'], 'Did you mean --max-files?'],
    [['add'], 'Say the name of the customer.'],
    [['add', 'two', '--', 'names'], 'Only one name is allowed'],
    [['add', 'alice', '--qota', '1'], 'Did you mean --quota?'],
    [[], 'Say what to do: add, set, list, remove, rotate, revoke-links or check.'],
    [['ad', 'alice'], 'Did you mean add?'],
  ]
  for (const [args, message] of mistakes) {
    it(`refuses "${['customers', ...args].join(' ')}" with words and exit code 1`, async () => {
      const text = 'customers:\n  - name: bob\n    password: plain\n'
      await site.write('new.yaml', text)
      const { code, stdout, stderr } = await customers(args)
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(/^holdfast: /)
      expect(stderr).to.include(message)
      expect(stderr).not.to.match(/^\s+at /m)
      expect(await readFile(path, 'utf8')).to.equal(text)
    })
  }

  it('checks a file: warnings for plain text, every problem with its line', async () => {
    await site.write('customers.yaml', 'customers:\n  - name: bob\n    password: plain\n')
    const good = await runHoldfast(['customers', 'check'], { cwd: site.path })
    expect({ code: good.code, stdout: good.stdout }).to.deep.equal({ code: 0, stdout: '' })
    expect(good.stderr).to.include('plain text').and.to.include('is valid: 1 customer')
    await site.write('new.yaml', 'customers:\n  - name: bob\n    pasword: x\n  - name: 5\n')
    const bad = await customers(['check'])
    expect(bad.code).to.equal(1)
    expect(bad.stderr).to.include('new.yaml:3:').and.to.include('new.yaml:4:')
    expect(
      (await runHoldfast(['customers', 'check', '--customers', 'none'], { cwd: site.path })).code,
    ).to.equal(1)
  })
})
