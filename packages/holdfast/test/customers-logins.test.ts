import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileCredentialSource } from '@holdfast/credentials-file'
import { createPasswordVerifier } from '@holdfast/passwords'
import { createSite, runHoldfast, type Site } from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast customers, of further logins,', () => {
  let site: Site
  let path: string
  beforeEach(async () => {
    site = await createSite()
    path = join(site.path, 'new.yaml')
    expect((await customers('add', 'acme')).code).to.equal(0)
  })
  afterEach(() => site.remove())

  const customers = (...args: readonly string[]) =>
    runHoldfast(['customers', ...args], {
      cwd: site.path,
      env: { HOLDFAST_CUSTOMERS: './new.yaml' },
    })

  const found = async (name: string) => {
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    await source.close()
    return source.find(name)
  }

  it('adds one with rights and an end, and prints its password', async () => {
    const flags = ['--login', 'ci', '--may', 'append-only', '--until', '2031-01-31']
    const { code, stdout, stderr } = await customers('add', 'acme', ...flags)
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: 'The password of "acme/ci", shown only now:\n',
    })
    const login = await found('acme/ci')
    expect(login).to.deep.include({
      may: ['list', 'read', 'create'],
      endsAtMs: Date.UTC(2031, 1, 1),
    })
    const verify = createPasswordVerifier()
    expect(await verify(stdout.trim(), login?.passwordHash)).to.equal(true)
    expect(await readFile(path, 'utf8')).to.match(/may: append-only\n\s+until: 2031-01-31\n/)
  })

  it('takes a list of rights, a single right, and CUSTOMER/LOGIN as one word', async () => {
    await customers('add', 'acme/one', '--may', 'list, read')
    await customers('add', 'acme/two', '--may', 'create')
    await customers('add', 'bob', '--may', 'read-only')
    expect((await found('acme/one'))?.may).to.deep.equal(['list', 'read'])
    expect((await found('acme/two'))?.may).to.deep.equal(['create'])
    expect((await found('bob'))?.may).to.deep.equal(['list', 'read'])
  })

  it('changes rights, ends and limits, removes them by "none", and shows them', async () => {
    await customers('add', 'acme', '--login', 'ci', '--until', '2031-01-31')
    const { code, stderr } = await customers('set', 'acme', '--login', 'ci', '--may', 'read-only')
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'Changed the login "acme/ci".\n' })
    expect((await found('acme/ci'))?.may).to.deep.equal(['list', 'read'])
    expect((await found('acme/ci'))?.endsAtMs).to.equal(Date.UTC(2031, 1, 1))
    await customers('set', 'acme', '--quota', '5GB', '--keep-replaced', '30d')
    const { stdout } = await customers('list', '--logins', '--details')
    expect(stdout).to.equal(
      'acme  --quota 5.00GB  --keep-replaced 30d\n' +
        'acme/ci  --may read-only  --until 2031-02-01T00:00:00.000Z\n',
    )
    await customers('set', 'acme/ci', '--until', 'none', '--may', 'none')
    await customers('set', 'acme', '--quota', 'none', '--keep-replaced', 'off')
    expect(await found('acme/ci')).to.not.have.any.keys('endsAtMs')
    expect((await customers('list', '--details')).stdout).to.equal('acme  --keep-replaced off\n')
  })

  for (const [what, args, problem] of [
    ['nothing', ['acme'], 'Say what to change'],
    ['no one', ['bob', '--quota', '1GB'], 'has no customer "bob"'],
    ['the end of a customer', ['acme', '--until', 'none'], 'a customer has no field until'],
    ['the quota of a login', ['acme/ci', '--quota', 'none'], 'a login has no field quota'],
    ['to a right that is none', ['acme', '--may', 'list,sing'], 'sing'],
  ] as const) {
    it(`changes ${what}: refuses that, and leaves the file as it is`, async () => {
      await customers('add', 'acme', '--login', 'ci')
      const before = await readFile(path, 'utf8')
      const { code, stderr } = await customers('set', ...args)
      expect(code).to.not.equal(0)
      expect(stderr).to.include(problem)
      expect(await readFile(path, 'utf8')).to.equal(before)
    })
  }

  it('rotates, lists, counts and removes them', async () => {
    await customers('add', 'acme', '--login', 'ci')
    const before = await found('acme/ci')
    expect((await customers('rotate', 'acme', '--login', 'ci')).code).to.equal(0)
    expect((await found('acme/ci'))?.passwordHash).to.not.equal(before?.passwordHash)
    expect((await customers('list')).stdout).to.equal('acme\n')
    expect((await customers('list', '--logins')).stdout).to.equal('acme\nacme/ci\n')
    expect((await customers('check')).stderr).to.include(
      'is valid: 1 customer(s), 1 further login(s).',
    )
    const { stderr } = await customers('remove', 'acme', '--login', 'ci')
    expect(stderr).to.equal('Removed the login "acme/ci".\n')
    expect(await found('acme/ci')).to.equal(undefined)
    expect(await found('acme')).to.not.equal(undefined)
  })

  it('makes a customer whose files expire, and says so', async () => {
    expect((await customers('add', 'bob', '--expire-after', '30d')).code).to.equal(0)
    expect(await readFile(path, 'utf8')).to.match(/expireAfter: 30d\n/)
    expect((await found('bob'))?.expireAfterMs).to.equal(30 * 86_400_000)
    expect((await customers('check')).stderr).to.include(
      'Files of "bob" are deleted 30 day(s) after their last change; the server logs how many, a day before.',
    )
    const refused = await customers('add', 'carol', '--expire-after', '30')
    expect(refused.stderr).to.include('the expiry is not a time between 1h and 36500d')
  })

  it('makes a customer of whom replaced files are kept', async () => {
    expect((await customers('add', 'bob', '--keep-replaced', '30d')).code).to.equal(0)
    expect(await readFile(path, 'utf8')).to.match(/keepReplaced: 30d\n/)
    expect((await found('bob'))?.keepReplacedMs).to.equal(30 * 86_400_000)
    expect((await customers('check')).stderr).to.include(
      'What is replaced or deleted of "bob" can be restored for 30 day(s).',
    )
    const refused = await customers('add', 'carol', '--keep-replaced', '30')
    expect(refused.stderr).to.include(
      'the time for which replaced files are kept is not a time between 1m and 36500d',
    )
  })

  it('gives a customer a receiver of events, and prints the secret that signs them', async () => {
    const added = await customers('add', 'bob', '--webhook', 'https://bob.example/hook')
    const [, secret = ''] = added.stdout.trim().split('\n')
    expect(secret).to.match(/^whsec_/)
    expect(await readFile(path, 'utf8')).to.include(
      `webhook: https://bob.example/hook\n    webhookSecret: ${secret}\n`,
    )
    const { stdout } = await customers('list', '--details')
    expect(stdout).to.include('bob  --webhook https://bob.example/hook\n')
    const again = await customers('set', 'bob', '--webhook', 'https://bob.example/other')
    expect(again.stdout)
      .to.match(/^whsec_/)
      .and.not.equal(`${secret}\n`)
    expect((await customers('set', 'bob', '--webhook', 'bob')).stderr).to.include(
      'the webhook is not the URL of a receiver',
    )
    expect((await customers('check')).stderr).to.include(
      'The webhook of "bob" gets events if the server has --audit-log',
    )
    await customers('set', 'bob', '--webhook', 'http://10.0.0.1/hook')
    expect((await customers('check')).stderr).to.include(
      'The webhook of "bob" gets events if the server has --audit-log and --webhook-allow-private',
    )
    expect((await customers('set', 'bob', '--webhook', 'none')).code).to.equal(0)
    expect(await readFile(path, 'utf8')).to.not.include('webhook')
    const login = await customers('set', 'acme', '--login', 'ci', '--webhook', 'https://x.example')
    expect(login.code).to.not.equal(0)
  })

  it('warns of a login that has ended', async () => {
    await customers('add', 'acme', '--login', 'ci', '--until', '2031-01-31')
    await writeFile(path, (await readFile(path, 'utf8')).replace('2031-01-31', '2020-01-31'))
    const { stderr } = await customers('check')
    expect(stderr).to.match(
      /the login has ended for "acme\/ci"; remove each with: .* --login LOGIN/,
    )
  })

  const refused: Record<string, readonly [args: readonly string[], message: RegExp]> = {
    'rights that do not exist': [
      ['add', 'acme/ci', '--may', 'write'],
      /the field may names no set of rights; write one of full, read-only/,
    ],
    'replacing without creating': [['add', 'acme/ci', '--may', 'replace'], /without "create"/],
    'an end that is no day': [['add', 'acme/ci', '--until', 'soon'], /the end is not a date/],
    'an end that is past': [
      ['add', 'acme/ci', '--until', '2020-01-31'],
      /the end is past; write a/,
    ],
    'an end of a customer': [['add', 'bob', '--until', '2031-01-31'], /has no field until/],
    'a quota of a login': [['add', 'acme/ci', '--quota', '1GB'], /a login has no field quota/],
    'a login of an unknown customer': [
      ['add', 'acne', '--login', 'ci'],
      /no customer "acne"; did you mean "acme"/,
    ],
    'two slashes': [['add', 'acme/ci', '--login', 'x'], /has no "\/"/],
    'a name that is taken': [
      ['add', 'acme', '--login', 'there'],
      /has a login "acme\/there" already/,
    ],
    'links of one login': [['revoke-links', 'acme/there'], /for all logins of a customer together/],
  }
  for (const [what, [args, message]] of Object.entries(refused)) {
    it(`refuses ${what}, and writes nothing`, async () => {
      await customers('add', 'acme', '--login', 'there')
      const before = await readFile(path, 'utf8')
      const { code, stdout, stderr } = await customers(...args)
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(message)
      expect(await readFile(path, 'utf8')).to.equal(before)
    })
  }
})
