import { chmod, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from '@holdfast/passwords'
import {
  cheapCost,
  makeTemporaryDirectory,
  rejection,
  type TemporaryDirectory,
} from '@holdfast/testing'
import { expect } from 'chai'
import { CustomersFileError } from '../src/customers/customers-file-error.ts'
import { openCustomersFile } from '../src/open-customers-file.ts'
import { openFileCredentialSource } from '../src/open-file-credential-source.ts'

describe('openCustomersFile', () => {
  let directory: TemporaryDirectory
  let path: string
  let hash: string
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    path = join(directory.path, 'customers.yaml')
    hash = await hashPassword('secret', cheapCost)
  })
  afterEach(() => directory.remove())

  const text = () => readFile(path, 'utf8')

  it('creates a missing file, readable by its owner only, which a source reads', async () => {
    const file = await openCustomersFile(path)
    expect(file.names()).to.deep.equal([])
    file.add('alice', hash, { quota: '10 MiB' })
    file.add('123', hash)
    file.add('null', hash, { quota: 5, maxFiles: '7' })
    expect(await readdir(directory.path)).to.deep.equal([])
    await file.save()
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    expect(source.customers()).to.deep.equal(['alice', '123', 'null'])
    expect(source.find('alice')?.quota).to.equal(10_485_760)
    expect(source.find('null')).to.include({ quota: 5, maxFiles: 7 })
    await source.close()
  })

  for (const empty of ['', '\n', '# ours\n']) {
    it(`adds to a file that says ${JSON.stringify(empty)}, and keeps the comment`, async () => {
      await writeFile(path, empty)
      const file = await openCustomersFile(path)
      file.add('alice', hash)
      await file.save()
      expect((await openCustomersFile(path)).names()).to.deep.equal(['alice'])
      expect((await text()).startsWith(empty.trim())).to.equal(true)
    })
  }

  it('keeps comments, order, quotes and everything else that was not edited', async () => {
    const before = [
      '# Customers of the north office',
      'customers:',
      '  # The first one',
      "  - name: 'alice'",
      '    password: plain # to be rotated',
      '    quota: 50GB',
      '',
      '  # The second one',
      '  - { name: bob, password: "also plain" }',
      '  - name: carol',
      '    password: x',
      '',
      '# The end',
      '',
    ]
    await writeFile(path, before.join('\n'), { mode: 0o644 })
    const file = await openCustomersFile(path)
    file.setPasswordHash('alice', hash)
    file.remove('carol')
    file.add('dave', hash)
    await file.save()
    expect((await text()).split('\n')).to.deep.equal([
      ...before.slice(0, 4),
      `    password: ${hash} # to be rotated`,
      ...before.slice(5, 9),
      '  - name: dave',
      `    password: ${hash}`,
      ...before.slice(11),
    ])
  })

  for (const [before, after] of [
    [0o640, 0o640],
    [0o644, 0o640],
    [0o600, 0o600],
    [0o400, 0o600],
  ] as const) {
    it(`keeps what the group may do, and nothing for others: ${before.toString(8)}`, async () => {
      await writeFile(path, 'customers: []\n')
      await chmod(path, before)
      const file = await openCustomersFile(path)
      file.add('alice', hash)
      await file.save()
      expect(((await stat(path)).mode & 0o777).toString(8)).to.equal(after.toString(8))
    })
  }

  it('keeps JSON as JSON, with its indentation', async () => {
    await writeFile(
      path,
      '{\n    "customers": [\n        { "name": "a", "password": "b" }\n    ]\n}\n',
    )
    const file = await openCustomersFile(path)
    file.add('c', hash)
    file.setPasswordHash('a', hash)
    await file.save()
    expect(JSON.parse(await text())).to.deep.equal({
      customers: [
        { name: 'a', password: hash },
        { name: 'c', password: hash },
      ],
    })
    expect(await text()).to.match(/^\{\n {4}"customers"/)
  })

  it('keeps Windows line ends', async () => {
    await writeFile(path, 'customers:\r\n  - name: a\r\n    password: b\r\n')
    const file = await openCustomersFile(path)
    file.setPasswordHash('a', hash)
    await file.save()
    expect(await text()).to.equal(`customers:\r\n  - name: a\r\n    password: ${hash}\r\n`)
  })

  it('saves edit after edit, and leaves nothing else in the directory', async () => {
    const file = await openCustomersFile(path)
    file.add('a', hash)
    await file.save()
    file.add('b', hash)
    file.remove('a')
    await file.save()
    expect((await openCustomersFile(path)).names()).to.deep.equal(['b'])
    expect(await readdir(directory.path)).to.deep.equal(['customers.yaml'])
  })

  it('removes the last customer and adds one again', async () => {
    const file = await openCustomersFile(path)
    file.add('a', hash)
    file.remove('a')
    await file.save()
    const again = await openCustomersFile(path)
    expect(again.has('a')).to.equal(false)
    again.add('a', hash)
    await again.save()
    expect((await openCustomersFile(path)).has('a')).to.equal(true)
  })

  it('writes through a link and leaves it a link', async () => {
    const link = join(directory.path, 'link.yaml')
    await writeFile(path, 'customers: []\n')
    await symlink('customers.yaml', link)
    const file = await openCustomersFile(link)
    file.add('a', hash)
    await file.save()
    expect(await readlink(link)).to.equal('customers.yaml')
    expect(await text()).to.include('name: a')
  })

  it('refuses to overwrite the edit of others', async () => {
    await writeFile(path, 'customers: []\n')
    const [first, second] = [await openCustomersFile(path), await openCustomersFile(path)]
    first.add('a', hash)
    second.add('b', hash)
    await first.save()
    expect((await rejection(second.save())).message).to.include('was changed by others')
    expect((await openCustomersFile(path)).names()).to.deep.equal(['a'])
  })

  it('refuses an edit that would change another customer through an alias', async () => {
    const before =
      'customers:\n  - name: a\n    password: &p secret\n  - name: b\n    password: *p\n'
    await writeFile(path, before)
    for (const edit of ['rotate', 'remove']) {
      const file = await openCustomersFile(path)
      if (edit === 'rotate') file.setPasswordHash('a', hash)
      else file.remove('a')
      expect((await rejection(file.save())).message).to.include('edit it by hand')
    }
    expect(await text()).to.equal(before)
  })

  it('refuses a file with anything wrong in it', async () => {
    await writeFile(path, 'customers:\n  - name: 1\n    password: x\n')
    expect(await rejection(openCustomersFile(path))).to.be.instanceOf(CustomersFileError)
  })

  it('says what to do where it cannot write', async () => {
    const file = await openCustomersFile(join(directory.path, 'missing', 'customers.yaml'))
    file.add('a', hash)
    expect((await rejection(file.save())).message).to.include('its directory does not exist')
  })

  it('refuses what makes no sense, and changes nothing', async () => {
    const file = await openCustomersFile(path)
    file.add('alice', hash)
    const refused: readonly (readonly [() => void, string])[] = [
      [() => file.add('alice', hash), 'has a customer "alice" already'],
      [() => file.add('a/b', hash), 'has no customer "a"'],
      [() => file.add('', hash), 'it is empty'],
      [() => file.add('bob', 'plain'), 'is not a scrypt hash'],
      [() => file.add('bob', '$scrypt$ln=30,r=8,p=1$x$y'), 'unacceptable cost'],
      [() => file.add('bob', hash, { quota: 'lots' }), 'the quota is not a size'],
      [() => file.add('bob', hash, { quota: -1 }), 'the quota is not a size'],
      [() => file.add('bob', hash, { maxFiles: -1 }), 'the number of files is not a whole'],
      [() => file.add('bob', hash, { maxFiles: 1.5 }), 'the number of files is not a whole'],
      [() => file.add('bob', hash, { maxFiles: '9'.repeat(17) }), 'the number of files is not'],
      [() => file.add('bob', hash, { may: 'readonly' }), 'did you mean read-only?'],
      [() => file.add('bob', hash, { may: ['list', 'red'] }), 'did you mean read?'],
      [() => file.add('bob', hash, { may: ['replace'] }), '"replace" without "create"'],
      [() => file.add('bob', hash, { until: '2030-01-01' }), 'a customer has no field until'],
      [() => file.add('alice/ci', hash, { until: '1 May' }), 'the end is not a date'],
      [() => file.add('alice/ci', hash, { until: '2030-02-30' }), 'the end is not a date'],
      [() => file.add('alice/ci', hash, { quota: 1 }), 'a login has no field quota'],
      [() => file.add('alice/', hash), 'no login can have this name: it is empty'],
      [() => file.add('alice/a/b', hash), 'no login can have this name'],
      [() => file.remove('alice/ci'), 'has no login "alice/ci"'],
      [() => file.setPasswordHash('alice/ci', hash), 'has no login "alice/ci"'],
      [() => file.remove('alise'), 'has no customer "alise"; did you mean "alice"?'],
      [() => file.remove('zzz'), 'has no customer "zzz"'],
      [() => file.setPasswordHash('bob', hash), 'has no customer "bob"'],
      [() => file.setPasswordHash('alice', 'plain'), 'is not a scrypt hash'],
    ]
    for (const [edit, message] of refused) {
      expect(edit).to.throw(CustomersFileError, message)
    }
    expect(file.names()).to.deep.equal(['alice'])
  })

  it('gives every right back, by a word or by a list', async () => {
    const before = `customers:\n  - name: acme\n    password: ${hash}\n`
    for (const every of ['full', 'list,read,create,replace,delete,link']) {
      await writeFile(path, `${before}    may: read-only\n`)
      const file = await openCustomersFile(path)
      file.set('acme', { may: every.includes(',') ? every.split(',') : every })
      await file.save()
      expect(await text()).to.equal(before)
    }
  })

  it('sets and removes a receiver of events together with its secret', async () => {
    const before = `customers:\n  - name: acme\n    password: ${hash}\n`
    await writeFile(path, before)
    const file = await openCustomersFile(path)
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    file.set('acme', { webhook: { url: 'https://acme.example/hook', secret } })
    await file.save()
    expect(await readFile(path, 'utf8')).to.equal(
      `${before}    webhook: https://acme.example/hook\n    webhookSecret: ${secret}\n`,
    )
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    await source.close()
    expect(source.webhooks().get('acme')).to.deep.equal({
      url: 'https://acme.example/hook',
      secrets: [secret],
    })
    // The secret belongs to the delivery only: credentials also go to worker processes.
    expect(source.find('acme')).to.have.all.keys('name', 'passwordHash')
    expect(() => file.set('acme', { webhook: { url: 'acme', secret } })).to.throw('not the URL')
    file.set('acme', { webhook: null })
    await file.save()
    expect(await readFile(path, 'utf8')).to.equal(before)
  })

  describe('of further logins', () => {
    const found = async (name: string) => {
      const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
      await source.close()
      return source.find(name)
    }

    it('adds, rotates and removes them, and keeps comments', async () => {
      const before = `# ours\ncustomers:\n  - name: acme # the first\n    password: ${hash}\n    quota: 1GB\n  - name: bob\n    password: ${hash}\n`
      await writeFile(path, before)
      const file = await openCustomersFile(path)
      file.add('acme/ci', hash, { may: 'append-only', until: '2030-12-31' })
      file.add('acme/reader', hash, { may: ['list', 'read'] })
      await file.save()
      expect(file.names()).to.deep.equal(['acme', 'bob'])
      expect(file.loginNames()).to.deep.equal(['acme', 'acme/ci', 'acme/reader', 'bob'])
      expect(await readFile(path, 'utf8')).to.include(
        `    logins:\n      - name: ci\n        password: ${hash}\n        may: append-only\n        until: 2030-12-31\n`,
      )
      expect(await found('acme/ci')).to.deep.equal({
        name: 'acme/ci',
        login: 'ci',
        passwordHash: hash,
        quota: 1_000_000_000,
        may: ['list', 'read', 'create'],
        endsAtMs: Date.UTC(2031, 0, 1),
      })

      const later = await openCustomersFile(path)
      const other = await hashPassword('other', cheapCost)
      later.setPasswordHash('acme/ci', other)
      later.remove('acme/reader')
      await later.save()
      expect((await found('acme/ci'))?.passwordHash).to.equal(other)
      expect((await found('acme'))?.passwordHash).to.equal(hash)
      expect(await found('acme/reader')).to.equal(undefined)
      later.remove('acme/ci')
      await later.save()
      expect(await readFile(path, 'utf8')).to.equal(before)
    })

    it('go with their customer', async () => {
      const file = await openCustomersFile(path)
      file.add('acme', hash, { may: 'read-only' })
      file.add('acme/ci', hash)
      file.add('bob', hash)
      file.remove('acme')
      await file.save()
      expect(file.loginNames()).to.deep.equal(['bob'])
      expect(await found('acme/ci')).to.equal(undefined)
    })

    it('are refused for a name that is taken, or without a customer', async () => {
      const file = await openCustomersFile(path)
      file.add('acme', hash)
      file.add('acme/ci', hash)
      expect(() => file.add('acme/ci', hash)).to.throw('has a login "acme/ci" already')
      expect(() => file.add('acne/ci', hash)).to.throw('no customer "acne"; did you mean "acme"?')
      expect(() => file.remove('acme/c')).to.throw('no login "acme/c"; did you mean "acme/ci"?')
    })

    it('are not removed, rotated or added where the customer shares them by an alias', async () => {
      const login = `      - name: ci\n        password: ${hash}\n`
      const acme = `customers:\n  - name: acme\n    password: ${hash}\n    logins: &shared\n${login}`
      const before = `${acme}  - name: bob\n    password: ${hash}\n    logins: *shared\n`
      await writeFile(path, before)
      const file = await openCustomersFile(path)
      for (const edit of [
        () => file.remove('bob/ci'),
        () => file.setPasswordHash('bob/ci', hash),
        () => file.add('bob/other', hash),
      ]) {
        expect(edit).to.throw(CustomersFileError, 'edit the file by hand')
      }
      file.remove('acme/ci')
      expect((await rejection(file.save())).message).to.include('edit it by hand')
      expect(await readFile(path, 'utf8')).to.equal(before)
    })

    it('are not added with an end that is past', async () => {
      const file = await openCustomersFile(path)
      file.add('acme', hash)
      const day = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10)
      const dayMs = 24 * 60 * 60 * 1000
      for (const until of [day(-dayMs), new Date(Date.now() - 1_000).toISOString()]) {
        expect(() => file.add('acme/ci', hash, { until })).to.throw('the end is past')
      }
      expect(file.loginNames()).to.deep.equal(['acme'])
      file.add('acme/ci', hash, { until: day(dayMs) })
    })

    it('are refused with the remedy for what only customers, or only logins, have', async () => {
      const file = await openCustomersFile(path)
      file.add('acme', hash)
      expect(() => file.add('acme/ci', hash, { quota: '1GB' })).to.throw(
        'a login has no field quota; that of its customer holds for all logins together',
      )
      expect(() => file.add('acme/ci', hash, { maxFiles: 3 })).to.throw(
        'a login has no field maxFiles; that of its customer holds for all logins together',
      )
      expect(() => file.add('bob', hash, { until: '2030-01-01' })).to.throw(
        'a customer has no field until; only further logins end',
      )
    })

    it('stay JSON in a file of JSON', async () => {
      await writeFile(path, JSON.stringify({ customers: [{ name: 'acme', password: hash }] }))
      const file = await openCustomersFile(path)
      file.add('acme/ci', hash, { may: ['create'] })
      await file.save()
      expect(JSON.parse(await readFile(path, 'utf8'))).to.deep.equal({
        customers: [
          {
            name: 'acme',
            password: hash,
            logins: [{ name: 'ci', password: hash, may: ['create'] }],
          },
        ],
      })
    })
  })
})
