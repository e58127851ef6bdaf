import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { inBatches } from '../../../src/remote/put/put.ts'
import { allOf } from '../support/logged-in.ts'

describe('inBatches', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  const make = async (name: string, size: number) => {
    await writeFile(join(directory.path, name), '')
    await truncate(join(directory.path, name), size)
  }
  const batchesOf = async (...names: readonly string[]) => {
    const files = names.map((name) => ({ name, path: join(directory.path, name) }))
    const batches = await allOf(inBatches(files))
    return batches.map((batch) => batch.map(({ name }) => name).join())
  }

  it('puts small files together, and others alone', async () => {
    await make('a', 1)
    await make('b', 0)
    await make('c', 256 * 1024)
    await make('large', 256 * 1024 + 1)
    await mkdir(join(directory.path, 'dir'))
    const names = ['a', 'large', 'b', 'dir', 'none', 'c']
    expect(await batchesOf(...names)).to.deep.equal(['large', 'dir', 'none', 'a,b,c'])
    expect(await batchesOf()).to.deep.equal([])
  })

  it('takes 512 KiB, or 250 files', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await make(name, 256 * 1024)
    expect(await batchesOf('a', 'b', 'c', 'd')).to.deep.equal(['a,b', 'c,d'])
    const names = Array.from({ length: 251 }, (_, index) => `${index}`)
    for (const name of names) await make(name, 1)
    expect(await batchesOf(...names)).to.deep.equal([names.slice(0, 250).join(), '250'])
  })

  it('takes - for standard input, and for no file of this name', async () => {
    const files = [{ name: 'x', path: '-' }]
    expect(await allOf(inBatches(files))).to.deep.equal([files])
  })
})
