import { execFileSync } from 'node:child_process'
import { chmod, chown, readdir, readFile, stat, writeFile } from 'node:fs/promises'
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

// Only root can give a file away, become another user, and mount a small file system.
const describeAsRoot = process.getuid?.() === 0 ? describe : () => {}

describeAsRoot('saving a customers file', () => {
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

  describe('of another user', () => {
    const anotherId = 65_534

    /** Adds a customer as a user who may write the directory; resolves with the error's message, '' for none. */
    const addAsAnother = () => {
      const edit = `
        import { openCustomersFile } from '@holdfast/credentials-file'
        process.setgroups([])
        process.setgid(${anotherId})
        process.setuid(${anotherId})
        const file = await openCustomersFile(${JSON.stringify(path)})
        file.add('bob', ${JSON.stringify(hash)})
        await file.save().catch(({ message }) => process.stdout.write(message))`
      const node = ['--input-type=module', '--eval', edit]
      return execFileSync(process.execPath, node, { encoding: 'utf8', cwd: import.meta.dirname })
    }

    for (const [owner, group, right] of [
      [0, anotherId, 'uid 0'],
      [anotherId, 0, 'a member of group 0'],
    ] as const) {
      it(`refuses to change the owner ${owner} and the group ${group}, and changes nothing`, async () => {
        await writeFile(path, 'customers: []\n')
        await chmod(path, 0o640)
        await chown(path, owner, group)
        await chown(directory.path, anotherId, anotherId)
        expect(addAsAnother()).to.equal(
          `${path}: belongs to uid ${owner}, gid ${group}, which uid ${anotherId}, gid ${anotherId} may not set on the new file; run this as ${right} or as root; nothing was changed`,
        )
        const { uid, gid, mode } = await stat(path)
        expect([uid, gid, mode & 0o777]).to.deep.equal([owner, group, 0o640])
        expect(await text()).to.equal('customers: []\n')
        expect(await readdir(directory.path)).to.deep.equal(['customers.yaml'])
      })
    }

    it('keeps the owner and the group where root edits it', async () => {
      await writeFile(path, 'customers: []\n')
      await chown(path, anotherId, anotherId)
      const file = await openCustomersFile(path)
      file.add('alice', hash)
      await file.save()
      const { uid, gid } = await stat(path)
      expect([uid, gid]).to.deep.equal([anotherId, anotherId])
    })
  })

  it('changes nothing where the disk has room for a part of the file only', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'holdfast-test', directory.path])
    try {
      const file = await openCustomersFile(path)
      for (let number = 0; number < 300; number++) file.add(`customer ${number}`, hash)
      await file.save()
      const before = await text()
      file.add('one more', hash)
      const error = await rejection(file.save())
      expect(error).to.be.instanceOf(CustomersFileError)
      expect(error)
        .to.have.property('message')
        .that.includes('the disk is full; nothing was changed')
      expect(await text()).to.equal(before)
      expect(await readdir(directory.path)).to.deep.equal(['customers.yaml'])
    } finally {
      execFileSync('umount', [directory.path])
    }
  })
})
