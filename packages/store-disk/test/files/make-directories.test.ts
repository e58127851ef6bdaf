import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeDirectories } from '../../src/files/make-directories.ts'

describe('makeDirectories', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'holdfast-directories-'))
  })
  afterEach(() => rm(root, { recursive: true }))

  const failure = async (directory: string) => {
    try {
      await makeDirectories(directory)
      return undefined
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  }

  it('makes what is missing, outermost first, for owner and group only', async () => {
    const made = await makeDirectories(join(root, 'a/b/c'))
    expect(made).to.deep.equal(['a', 'a/b', 'a/b/c'].map((path) => join(root, path)))
    expect((await stat(join(root, 'a/b'))).mode & 0o027).to.equal(0)
    expect(await makeDirectories(join(root, 'a/b/d'))).to.deep.equal([join(root, 'a/b/d')])
  })

  it('makes nothing of what is there', async () => {
    expect(await makeDirectories(root)).to.deep.equal([])
    expect(await makeDirectories('/')).to.deep.equal([])
    expect(await readdir(root)).to.deep.equal([])
  })

  it('can be called many times at once', async () => {
    const directory = join(root, 'a/b/c')
    const made = await Promise.all(Array.from({ length: 20 }, () => makeDirectories(directory)))
    expect(made.flat().sort()).to.deep.equal(['a', 'a/b', 'a/b/c'].map((path) => join(root, path)))
  })

  it('fails where a file is in the way', async () => {
    await writeFile(join(root, 'file'), '')
    expect(await failure(join(root, 'file'))).to.equal('EEXIST')
    expect(await failure(join(root, 'file/a'))).to.equal('ENOTDIR')
  })

  if (process.platform === 'linux') {
    it('fails, and ends, where the system takes no directories', async () => {
      expect(await failure('/proc/holdfast/data')).to.equal('ENOENT')
    })
  }
})
