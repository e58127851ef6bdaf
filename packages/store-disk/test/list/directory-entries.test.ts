import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { withEntries, type EntriesOf } from '../../src/list/directory-entries.ts'
import { collect } from '../collect.ts'
import { systemError } from '../full-disk.ts'

/** Of what an entry is called, in Latin-1, and what it is. */
const describeAll = async (entriesOf: EntriesOf, directory: string) =>
  (await collect(entriesOf(directory)))
    .flat()
    .map((entry) => {
      const kinds = [entry.isFile(), entry.isDirectory(), entry.isSymbolicLink()]
      return `${entry.name} ${kinds.map(Number).join('')}`
    })
    .sort()

const expected = ['a 100', 'd 010', 'l 001', 'p 000', '\u00c3\u00a9 100', '\u00ff 100']

async function makeEntries(directory: string) {
  await writeFile(join(directory, 'a'), '')
  await writeFile(join(directory, '\u00e9'), '')
  await writeFile(Buffer.concat([Buffer.from(directory), Buffer.from([0x2f, 0xff])]), '')
  await mkdir(join(directory, 'd'))
  await symlink('nowhere', join(directory, 'l'))
  execFileSync('mkfifo', [join(directory, 'p')])
}

const unseen = () => systemError('ENOENT', 'lstat')

describe('withEntries', () => {
  it('gives entries of every kind and name', async () => {
    await using place = await makeTemporaryDirectory()
    await makeEntries(place.path)
    const entries = await withEntries((entriesOf) => describeAll(entriesOf, place.path))
    expect(entries).to.deep.equal(expected)
  })

  it('starts again, with entries that it inspects, where types are not reported', async () => {
    await using place = await makeTemporaryDirectory()
    await makeEntries(place.path)
    let walks = 0
    const seen = await withEntries(async (entriesOf) => {
      if (walks++ === 0) throw unseen()
      return describeAll(entriesOf, place.path)
    })
    expect(seen).to.deep.equal(expected)
  })

  it('gives nothing for a directory that is not there, in either way', async () => {
    let walks = 0
    await withEntries(async (entriesOf) => {
      expect(await collect(entriesOf('/nowhere/at/all'))).to.deep.equal([])
      if (walks++ === 0) throw unseen()
    })
    expect(walks).to.equal(2)
  })

  it('gives all of many, whether or not they fill the last batch', async () => {
    await using place = await makeTemporaryDirectory()
    let made = 0
    for (const count of [4095, 4096, 4097]) {
      for (; made < count; made++) await writeFile(join(place.path, String(made)), '')
      const names = await withEntries((entriesOf) => describeAll(entriesOf, place.path))
      expect(names).to.have.length(count)
      expect(new Set(names).size).to.equal(count)
    }
  })

  it('passes every other failure on', async () => {
    for (const error of [systemError('EIO', 'lstat'), systemError('ENOENT', 'open')]) {
      const failing = withEntries(() => Promise.reject(error))
      expect(await failing.catch((failure: unknown) => failure)).to.equal(error)
    }
  })
})
