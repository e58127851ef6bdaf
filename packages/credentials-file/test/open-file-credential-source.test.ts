import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { createPasswordVerifier, hashPassword } from '@holdfast/passwords'
import { cheapCost, rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { CustomersFileError } from '../src/customers/customers-file-error.ts'
import { plainCustomers as list, useCustomersFile } from './customers-file-fixture.ts'

describe('openFileCredentialSource', () => {
  const file = useCustomersFile()

  describe('opening', () => {
    it('rejects for a missing file and says what to do', async () => {
      const error = await rejection(file.open())
      expect(error).to.be.instanceOf(CustomersFileError)
      expect(error.message).to.equal(
        `${file.path()}: does not exist; create it with "holdfast customers add NAME", or give the right path`,
      )
    })

    it('rejects for a directory', async () => {
      await mkdir(file.path())
      expect((await rejection(file.open())).message).to.include('is a directory; give the path')
    })

    it('rejects for what is no ordinary file', async () => {
      await symlink('/dev/zero', file.path())
      expect((await rejection(file.open())).message).to.include('is not an ordinary file')
    })

    it('rejects for a file beyond 16 MiB without reading it', async () => {
      await file.write('')
      await truncate(file.path(), 2 ** 40)
      expect((await rejection(file.open())).message).to.include('is larger than 16 MiB')
    })

    it('rejects for a file that is not UTF-8', async () => {
      await writeFile(file.path(), Buffer.from(`\ufeff${list('a')}`, 'utf16le'))
      expect((await rejection(file.open())).message).to.include('is not encoded in UTF-8; save it')
    })

    it('rejects for a file that is wrong, with its path and line', async () => {
      await file.write('customers:\n  - name: 1\n    password: x\n')
      expect((await rejection(file.open())).message).to.match(
        /customers\.yaml:2: customers\[0\]\.name: /,
      )
    })

    it('reads a byte order mark', async () => {
      await file.write(`\ufeff${list('a')}`)
      expect((await file.open()).source.customers()).to.deep.equal(['a'])
    })

    it('gives out hashes as they are, quotas in bytes, and plain text never', async () => {
      const hash = await hashPassword('x', cheapCost)
      await file.write(
        `customers:\n  - {name: a, password: "${hash}", quota: 1kB}\n  - {name: b, password: secret}\n`,
      )
      const { source } = await file.open()
      expect(source.find('a')).to.deep.equal({ name: 'a', passwordHash: hash, quota: 1_000 })
      const plain = source.find('b')
      expect(JSON.stringify(plain)).to.not.include('secret')
      const verify = createPasswordVerifier({ cost: cheapCost })
      expect(await verify('secret', plain?.passwordHash)).to.equal(true)
      expect(await verify('guess', plain?.passwordHash)).to.equal(false)
    })
  })

  describe('warnings', () => {
    it('names the customers with plain-text passwords and the remedy, not the passwords', async () => {
      await file.write(list('alice', 'bob'))
      const { warnings } = await file.open()
      expect(warnings).to.deep.equal([
        `${file.path()}: the password stands in plain text for "alice", "bob"; replace each with: holdfast customers rotate NAME`,
      ])
    })

    it('names the customers whose hash has another cost', async () => {
      const odd = await hashPassword('x', { ln: 5, r: 8, p: 1 })
      await file.write(
        `customers:\n  - {name: a, password: "${odd}"}\n  - {name: b, password: "${await hashPassword('x', cheapCost)}"}\n`,
      )
      const { warnings } = await file.open()
      expect(warnings.length).to.equal(1)
      expect(warnings[0]).to.match(/another cost than ln=4,r=8,p=1 for "a", .*rotate NAME$/)
    })

    for (const [mode, verb] of [
      [0o644, 'read'],
      [0o602, 'written'],
      [0o666, 'written'],
    ] as const) {
      it(`says that a file of mode ${mode.toString(8)} may be ${verb} by all users`, async () => {
        await file.write(list())
        await chmod(file.path(), mode)
        const { warnings } = await file.open()
        expect(warnings.length).to.equal(1)
        expect(warnings[0]).to.include(
          `may be ${verb} by every user of this machine; run: chmod o= `,
        )
      })
    }

    it('are none for a file as the commands write it', async () => {
      await file.write(
        `customers:\n  - {name: b, password: "${await hashPassword('x', cheapCost)}"}\n`,
      )
      expect((await file.open()).warnings).to.deep.equal([])
    })

    it('come again only when they are new', async () => {
      await file.write(list('a'))
      const { source, warnings } = await file.open({ pollIntervalMs: 0 })
      await source.reload()
      expect(warnings.length).to.equal(1)
      await file.write(list('a', 'b'))
      await source.reload()
      expect(warnings.length).to.equal(2)
    })
  })

  describe('reload', () => {
    it('takes a changed file at once', async () => {
      await file.write(list('a'))
      const { source, reloaded } = await file.open({ pollIntervalMs: 0 })
      await file.write(list('b'))
      expect(await source.reload()).to.equal(true)
      expect(source.customers()).to.deep.equal(['b'])
      expect(reloaded.length).to.equal(1)
    })

    it('names the logins that came, went, or have other rights or another end', async () => {
      const entry = (logins: string) =>
        `customers:\n  - name: a\n    password: x\n    logins: [${logins}]\n`
      await file.write(entry('{name: one, password: x}, {name: two, password: x}'))
      const { source, reloaded } = await file.open({ pollIntervalMs: 0 })
      const later = '{name: two, password: x, may: read-only}, {name: three, password: x}'
      await file.write(entry(later))
      await source.reload()
      expect(reloaded).to.deep.equal([
        { customers: 1, added: ['a/three'], removed: ['a/one'], changed: ['a/two'] },
      ])
      await file.write(entry(later.replace('password: x', 'password: x, until: 2030-01-01')))
      await source.reload()
      expect(reloaded[1]?.changed).to.deep.equal(['a/two'])
      expect(source.customers()).to.deep.equal(['a'])
      expect(source.all().map(({ name }) => name)).to.deep.equal(['a', 'a/two', 'a/three'])
    })

    it('says nothing of a file that has not changed', async () => {
      await file.write(list('a'))
      const { source, reloaded } = await file.open({ pollIntervalMs: 0 })
      expect(await source.reload()).to.equal(true)
      expect(reloaded).to.deep.equal([])
    })

    it('resolves to false and reports a broken file each time it is asked', async () => {
      await file.write(list('a'))
      const { source, refused } = await file.open({ pollIntervalMs: 0 })
      await file.write('customers: 1')
      expect([await source.reload(), await source.reload()]).to.deep.equal([false, false])
      expect(refused.length).to.equal(2)
      expect(source.customers()).to.deep.equal(['a'])
    })
  })
})
