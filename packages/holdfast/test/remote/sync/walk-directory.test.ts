import { execFile } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { nameFromPath } from '@holdfast/client'
import { sortUtf8 } from '@holdfast/core'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { walkDirectory, type FoundEntry } from '../../../src/remote/sync/walk-directory.ts'

const long = 'long '.repeat(45)
const paths = [
  ...[
    'a',
    'b/a',
    'b/c',
    'b - b',
    'b -',
    'b - c',
    'b!',
    'b/d/e',
    'b - d - a',
    'b - d/z',
    'b/d/f',
    'c.txt',
  ],
  ...['😀', '\uff5e/x', 'é', 'e\u0301/x', '-', ' /x', '.x/.y', '"', '\u2028', '\ufffd', '\ufeff'],
  ...[`${long}/${long}/x.txt`, `${long}/${long}/y.txt`, `${long}/x`, `${long} - ${'a'.repeat(20)}`],
]

describe('walkDirectory', () => {
  let place: TemporaryDirectory
  const unread: string[] = []
  beforeEach(async () => {
    place = await makeTemporaryDirectory()
    unread.length = 0
  })
  afterEach(() => place[Symbol.asyncDispose]())

  const walk = async (into = '', signal = new AbortController().signal) => {
    const found: FoundEntry[] = []
    const onUnread = (path: string) => void unread.push(path)
    for await (const entry of walkDirectory(place.path, { into, signal, onUnread })) {
      found.push(entry)
    }
    return found
  }
  const write = async (path: string) => {
    await mkdir(dirname(join(place.path, path)), { recursive: true })
    await writeFile(join(place.path, path), '')
  }

  it('finds all files, in the order of their names on the server', async () => {
    // "b - c" is a file, and the name of b/c, too.
    for (const path of paths) await write(path)
    for (const into of ['', 'photos', 'b']) {
      const found = await walk(into)
      const expected = paths.map((path) => nameFromPath(into === '' ? path : `${into}/${path}`))
      expect(found.map(({ name }) => name)).to.deep.equal(sortUtf8(expected))
      for (const { name, path, kind } of found) {
        expect(nameFromPath(into === '' ? path : `${into}/${path}`)).to.equal(name)
        expect(kind).to.equal('file')
      }
    }
    expect(unread).to.deep.equal([])
  })

  it('says what is a link or a special file, and follows none', async () => {
    await write('a/b')
    await symlink('a', join(place.path, 'link'))
    await symlink('nowhere', join(place.path, 'broken'))
    await promisify(execFile)('mkfifo', [join(place.path, 'pipe')])
    expect((await walk()).map(({ name, kind }) => [name, kind])).to.deep.equal([
      ['a - b', 'file'],
      ['broken', 'symbolic link'],
      ['link', 'symbolic link'],
      ['pipe', 'special file'],
    ])
  })

  it('does not follow a link that has taken the place of a directory meanwhile', async () => {
    await using outside = await makeTemporaryDirectory()
    await writeFile(join(outside.path, 'secret'), '')
    for (const path of ['a', 'b/c', 'd']) await write(path)
    const found: string[] = []
    const options = { into: '', signal: new AbortController().signal }
    const onUnread = (path: string) => void unread.push(path)
    for await (const { path } of walkDirectory(place.path, { ...options, onUnread })) {
      found.push(path)
      if (path !== 'a') continue
      await rm(join(place.path, 'b'), { recursive: true })
      await symlink(outside.path, join(place.path, 'b'))
    }
    expect(found).to.deep.equal(['a', 'd'])
    expect(unread).to.deep.equal(['b'])
  })

  it('says which names are not UTF-8, and finds the others', async () => {
    await write('a')
    await writeFile(Buffer.concat([Buffer.from(join(place.path, 'x')), Buffer.from([0xff])]), '')
    expect((await walk()).map(({ name }) => name)).to.deep.equal(['a'])
    expect(unread).to.deep.equal(['x\ufffd'])
  })

  it('says that a directory cannot be read', async () => {
    await place[Symbol.asyncDispose]()
    expect(await walk()).to.deep.equal([])
    expect(unread).to.deep.equal([place.path])
  })

  it('ends with the reason of its signal', async () => {
    const signal = AbortSignal.abort(new Error('Enough'))
    expect(await rejection(walk('', signal))).to.include({ message: 'Enough' })
  })
})
