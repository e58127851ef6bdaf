import { execFile } from 'node:child_process'
import { mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { isMissing, withLocalFile } from '../../../src/remote/sync/local-file.ts'

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
