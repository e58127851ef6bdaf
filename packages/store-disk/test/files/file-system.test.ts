import { realpath, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { findMount, parseMounts, makeDirectories } from '../../src/files/file-system.ts'

describe('findMount', () => {
  it('finds the file system that the tests write to', async () => {
    const mount = await findMount(await realpath(tmpdir()))
    expect(mount?.point).to.match(/^\//)
    expect(mount?.type).to.match(/^\w+/)
    expect(mount?.options).to.include('rw')
  })

  it('takes the innermost, and of several at one point the one that is seen', async () => {
    expect((await findMount('/proc/self'))?.type).to.equal('proc')
    expect((await findMount('/process'))?.type).not.to.equal('proc')
  })
})

describe('parseMounts', () => {
  it('reads point, type and both kinds of options, with blanks undone', () => {
    const line =
      '36 35 98:0 /mnt1 /mnt/two\\040words rw,noatime master:1 - ext4 /dev/root rw,errors=continue'
    expect(parseMounts(`${line}\n\n`)).to.deep.equal([
      {
        point: '/mnt/two words',
        type: 'ext4',
        options: ['rw', 'noatime', 'rw', 'errors=continue'],
        isForcedReadOnly: false,
      },
    ])
  })

  const readOnly = [
    { place: 'rw', system: 'ro,space_cache=v2', isForced: true, what: 'by the kernel' },
    { place: 'ro', system: 'ro', isForced: false, what: 'by an administrator' },
    { place: 'ro', system: 'rw', isForced: false, what: 'at this point only' },
  ]
  for (const { place, system, isForced, what } of readOnly) {
    it(`finds out whether a file system was made read-only: ${what}`, () => {
      const [mount] = parseMounts(`36 35 0:40 / /mnt ${place},relatime - btrfs /dev/sda ${system}`)
      expect(mount?.isForcedReadOnly).to.equal(isForced)
    })
  }
})

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
