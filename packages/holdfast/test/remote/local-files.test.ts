import { execFile } from 'node:child_process'
import { mkdir, rm, symlink, writeFile, readFile, realpath, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { text } from 'node:stream/consumers'
import { nameFromPath } from '@holdfast/client'
import { sortUtf8 } from '@holdfast/core'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import {
  walkDirectory,
  type FoundEntry,
  isMissing,
  withLocalFile,
} from '../../src/remote/local-files.ts'

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

const { signal } = new AbortController()

describe('withLocalFile', () => {
  let place: TemporaryDirectory
  let root: string
  beforeEach(async () => {
    place = await makeTemporaryDirectory()
    root = join(await realpath(place.path), 'root')
    await mkdir(join(root, 'a'), { recursive: true })
    await writeFile(join(root, 'a/b'), 'content')
  })
  afterEach(() => place[Symbol.asyncDispose]())

  const read = () =>
    withLocalFile(root, 'a/b', async (file) => String((await file.readWhole()).bytes))
  const digest = () => withLocalFile(root, 'a/b', (file) => file.readDigest(signal))

  it('reads a file, its digest and its parts', async () => {
    expect(await read()).to.equal('content')
    const { sha256 } = await digest()
    expect(sha256).to.match(/^ed7002b439e9ac845f22357d822bac14/)
    await withLocalFile(root, 'a/b', async (file) => {
      const body = file.bodyOf(await file.readDigest(signal))
      expect(body.size).to.equal(7)
      const chunks: Uint8Array[] = []
      for await (const chunk of body.slice(3, 5) as AsyncIterable<Uint8Array>) chunks.push(chunk)
      expect(String(Buffer.concat(chunks))).to.equal('te')
    })
  })

  for (const [directory, name] of [
    ['/proc', 'version'],
    ['/sys/kernel/mm/transparent_hugepage', 'enabled'],
  ] as const) {
    if (process.platform !== 'linux') continue
    it(`reads all of ${directory}/${name}, whose size is not the length of its content`, async () => {
      const content = await readFile(join(directory, name), 'utf8')
      await withLocalFile(directory, name, async (file) => {
        const { bytes, size, sha256 } = await file.readWhole()
        expect(String(bytes)).to.equal(content)
        expect(size).to.equal(bytes.length)
        const read = await file.readDigest(signal)
        expect(read).to.include({ size, sha256 })
        const body = file.bodyOf(read).slice(0, size)
        expect(await text(body as AsyncIterable<Uint8Array>)).to.equal(content)
      })
    })
  }

  it('gives no part of a version that is no more', async () => {
    await withLocalFile(root, 'a/b', async (file) => {
      const body = file.bodyOf(await file.readDigest(signal))
      await writeFile(join(root, 'a/b'), 'another')
      const chunks = (body.slice(0, 7) as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      expect(await rejection(chunks.next())).to.include({ code: 'changed-meanwhile' })
    })
  })

  it('reads the file that it has opened, when another one takes its place', async () => {
    await withLocalFile(root, 'a/b', async (file) => {
      await writeFile(join(root, 'new'), 'another')
      await rm(join(root, 'a/b'))
      await rename(join(root, 'new'), join(root, 'a/b'))
      expect(String((await file.readWhole()).bytes)).to.equal('content')
    })
  })

  const replacements: Readonly<Record<string, () => Promise<unknown>>> = {
    nothing: () => rm(join(root, 'a/b')),
    'a file in place of the directory': async () => {
      await rm(join(root, 'a'), { recursive: true })
      await writeFile(join(root, 'a'), '')
    },
    'a directory': async () => {
      await rm(join(root, 'a/b'))
      await mkdir(join(root, 'a/b'))
    },
    'a link to a file': async () => {
      await rename(join(root, 'a/b'), join(root, 'secret'))
      await symlink('../secret', join(root, 'a/b'))
    },
    'a link in place of the directory': async () => {
      await rename(join(root, 'a'), join(place.path, 'outside'))
      await symlink('../outside', join(root, 'a'))
    },
    'a pipe': async () => {
      await rm(join(root, 'a/b'))
      await promisify(execFile)('mkfifo', [join(root, 'a/b')])
    },
  }
  for (const [what, replace] of Object.entries(replacements)) {
    it(`takes a file for gone where there is ${what}`, async () => {
      await replace()
      expect(isMissing(await rejection(read()))).to.equal(true)
    })
  }
})
