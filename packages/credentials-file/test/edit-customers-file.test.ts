import { readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from '@holdfast/passwords'
import {
  cheapCost,
  makeTemporaryDirectory,
  rejection,
  type TemporaryDirectory,
} from '@holdfast/testing'
import { expect } from 'chai'
import { editCustomersFile, openCustomersFile } from '../src/open-customers-file.ts'

describe('editCustomersFile', () => {
  let directory: TemporaryDirectory
  let path: string
  let hash: string
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    path = join(directory.path, 'customers.yaml')
    hash = await hashPassword('secret', cheapCost)
  })
  afterEach(() => directory.remove())

  it('loses none of twenty edits at once, also by way of a link, and leaves only the file', async () => {
    await editCustomersFile(path, (file) => file.add('first', hash))
    const link = join(directory.path, 'link.yaml')
    await symlink(path, link)
    const names = Array.from({ length: 20 }, (_, index) => `customer ${index}`)
    await Promise.all(
      names.map((name, index) =>
        editCustomersFile(index % 2 === 0 ? path : link, (file) => file.add(name, hash)),
      ),
    )
    expect((await openCustomersFile(path)).names()).to.have.members(['first', ...names])
    expect(await readdir(directory.path)).to.have.members(['customers.yaml', 'link.yaml'])
  })

  it('writes nothing when the change throws', async () => {
    const refused = editCustomersFile(path, (file) => {
      file.add('alice', hash)
      throw new Error('changed my mind')
    })
    expect((await rejection(refused)).message).to.equal('changed my mind')
    expect(await readdir(directory.path)).to.deep.equal([])
  })

  it('takes over the lock of an editor that was killed', async () => {
    const lock = `${path}.lock`
    await writeFile(lock, '')
    const long = new Date(Date.now() - 60_000)
    await utimes(lock, long, long)
    await editCustomersFile(path, (file) => file.add('alice', hash))
    expect(await readdir(directory.path)).to.deep.equal(['customers.yaml'])
  })
})
