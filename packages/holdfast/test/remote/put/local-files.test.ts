import { execFile } from 'node:child_process'
import { rename, stat, writeFile, mkdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { HoldfastError, openFile, type Client, type FileToUpload } from '@holdfast/client'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { createReport } from '../../../src/remote/report.ts'
import { openLocal, inBatches, putBatch } from '../../../src/remote/put/put.ts'
import { allOf, useLogin } from '../support/logged-in.ts'

describe('openLocal', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    await writeFile(path(), 'one')
    await writeFile(`${path()}.new`, 'two')
  })
  afterEach(() => directory.remove())
  const path = () => join(directory.path, 'file')
  const replace = () => rename(`${path()}.new`, path())

  it('has the version of the file that it has opened, and not of the one before', async () => {
    const { body, version } = await openLocal(path(), async (place) => {
      await replace()
      return openFile(place)
    })
    expect(version?.ino).to.equal((await stat(path(), { bigint: true })).ino)
    expect(await contentOf(body)).to.equal('two')
  })

  it('has no content with a version of another file', async () => {
    const { body } = await openLocal(path(), async (place) => {
      const opened = await openFile(place)
      await replace()
      return opened
    })
    expect(await rejection(contentOf(body))).to.include({ code: 'changed-meanwhile' })
  })

  it('reads a pipe', async () => {
    const pipe = join(directory.path, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const { body, version } = await openLocal(pipe)
    expect(version).to.equal(undefined)
    const [content] = await Promise.all([contentOf(body), writeFile(pipe, 'piped')])
    expect(content).to.equal('piped')
  })

  const contentOf = async (body: Awaited<ReturnType<typeof openLocal>>['body']) =>
    'size' in body ? text(body.slice(0, body.size) as AsyncIterable<Uint8Array>) : text(body)
})

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

describe('putBatch', function () {
  this.timeout(120_000)
  const { site, client, server } = useLogin()

  it('fails for a file that is replaced while it is read, and for no other', async () => {
    const path = (name: string) => join(site.path, name)
    for (const name of ['a', 'b', 'c', 'other']) await writeFile(path(name), name.slice(0, 1))
    async function* replacing(files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>) {
      for await (const file of files) {
        if (file.name === 'b') await rename(path('other'), path('b'))
        yield file
      }
    }
    const real = client()
    const uploadMany: Client['uploadMany'] = (files, options) =>
      real.uploadMany(replacing(files), options)
    const lines: string[] = []
    const report = createReport({ isJson: false }, (line) => void lines.push(line))
    const files = ['a', 'b', 'c'].map((name) => ({ name, path: path(name) }))
    const login = { url: server().url, name: 'demo', password: '' }
    const { signal } = new AbortController()
    const remote = { client: { ...real, uploadMany }, answers: async () => true }
    await putBatch(files, false, { ...remote, login, report, signal }, () => expect.fail())
    expect(lines).to.deep.equal([
      `${path('a')} is stored as a, 1 B`,
      `holdfast: ${path('b')}: The file has changed meanwhile: ${path('b')}`,
      `${path('c')} is stored as c, 1 B`,
    ])
    expect(report.exitCode()).to.equal(5)
    expect(await allOf(client().list())).to.deep.equal(['a', 'c'])
  })

  it('sends each file alone where something on the way refuses them together', async () => {
    const refusal = new HoldfastError('unknown', 'A proxy refuses this request', { status: 403 })
    async function* uploadMany(): AsyncGenerator<never> {
      throw refusal
    }
    const lines: string[] = []
    const report = createReport({ isJson: false }, (line) => void lines.push(line))
    const files = ['.env', 'b'].map((name) => ({ name, path: name }))
    const alone: string[] = []
    await putBatch(
      files,
      false,
      {
        client: { ...client(), uploadMany },
        answers: () => expect.fail(),
        login: { url: server().url, name: 'demo', password: '' },
        report,
        signal: new AbortController().signal,
      },
      async ({ name }) => {
        if (name === '.env') throw refusal
        alone.push(name)
      },
    )
    expect(alone).to.deep.equal(['b'])
    expect(lines).to.deep.equal(['holdfast: .env: A proxy refuses this request'])
  })
})
