import { execFile } from 'node:child_process'
import { closeSync } from 'node:fs'
import { link, readdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import {
  findPartial,
  listPartials,
  openPartial,
  removePartial,
  syncStep,
  durableBytesOf,
} from '../../../src/remote/get/partial-files.ts'

describe('partial files', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  const identity = (name = 'a', url = 'http://a/') => ({
    login: { url, name: 'zoe', password: 'x' },
    name,
    target: { directory: directory.path, base: name },
  })
  const find = async (name?: string, url?: string) =>
    findPartial(identity(name, url), await listPartials(directory.path))
  const make = async (etag: string, size: number, name?: string) => {
    const { file, path, isLasting } = openPartial(identity(name), etag)
    closeSync(file)
    await truncate(path, size)
    return { path, isLasting }
  }

  it('are found again with their version', async () => {
    const name = '字'.repeat(85)
    const { path } = await make('"1-2/ü"', 5 * syncStep, name)
    expect(await find(name)).to.deep.equal({ path, etag: '"1-2/ü"', durableBytes: 3 * syncStep })
    expect(await find('b')).to.equal(undefined)
    expect(await find(name, 'http://b/')).to.equal(undefined)
    await removePartial(path)
    expect(await find(name)).to.equal(undefined)
    expect(await readdir(directory.path)).to.deep.equal([])
  })

  it('are trusted as far as they were synced', () => {
    const cases = [0, 1, syncStep, 2 * syncStep, 2 * syncStep + 1, 3 * syncStep, 3 * syncStep + 1]
    expect(cases.map((size) => durableBytesOf(size) / syncStep)).to.deep.equal([
      0, 0, 0, 0, 1, 1, 2,
    ])
  })

  it('do not last without a strong entity tag that fits into a name', async () => {
    for (const etag of ['', 'W/"1"', `"${'x'.repeat(200)}"`]) {
      const { isLasting } = await make(etag, 5 * syncStep)
      expect({ etag, isLasting }).to.deep.equal({ etag, isLasting: false })
    }
    expect(await find()).to.equal(undefined)
  })

  it('are not taken from others, by links', async () => {
    const { path } = await make('"1"', 0)
    await removePartial(path)
    const other = join(directory.path, 'other')
    await writeFile(other, 'mine')
    await symlink(other, path)
    expect(await find()).to.equal(undefined)
    expect(await make('"1"', 0)).to.include({ isLasting: false })
    await removePartial(path)
    await link(other, path)
    expect(await find()).to.equal(undefined)
    expect(await make('"1"', 0)).to.include({ isLasting: false })
  })

  it('are not taken from others, by pipes, which are not waited for', async () => {
    const { path } = await make('"1"', 0)
    await removePartial(path)
    await promisify(execFile)('mkfifo', [path])
    expect(await find()).to.equal(undefined)
    expect(await make('"1"', 0)).to.include({ isLasting: false })
  })
})
