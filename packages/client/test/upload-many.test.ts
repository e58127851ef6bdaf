import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import { openFile, type FileToUpload, type Retry } from '../src/index.ts'
import { all } from './support/all.ts'
import { createBrokenStore } from './support/broken-store.ts'
import { contentOf, digestOf, inChunks } from './support/content.ts'
import { files, stored, summary } from './support/many-files.ts'
import { clientOf, startService } from './support/running-service.ts'
import { useService } from './support/use-service.ts'

describe('Client.uploadMany', function () {
  this.timeout(60_000)
  const service = useService()

  const textOf = async (name: string) => (await clientOf(service).download(name)).text()
  const batches = () => service.requests.filter((request) => request === 'POST /upload/batch')

  it('stores small files many in a request, and says so of each in their order', async () => {
    const given = files(2300)
    const results = await all(clientOf(service).uploadMany(given))
    expect(summary(results)).to.deep.equal(stored(given))
    expect(batches()).to.have.length(3)
    expect(service.requests).to.have.length(3)
    expect(await all(clientOf(service).list())).to.have.length(2300)
    expect(await textOf('02299.txt')).to.equal('content of 2299')
  })

  it('stores nothing for no files', async () => {
    expect(await all(clientOf(service).uploadMany([]))).to.deep.equal([])
    expect(service.requests).to.deep.equal([])
  })

  it('takes every kind of body, and files one by one as they come', async () => {
    const large = contentOf(20 * 1024 ** 2)
    const middle = contentOf(300_000)
    const directory = await mkdtemp(join(tmpdir(), 'upload-many-'))
    try {
      await writeFile(join(directory, 'file'), 'from a file')
      const given = async function* (): AsyncGenerator<FileToUpload> {
        yield { name: 'string', body: 'grüße' }
        yield { name: 'bytes', body: new Uint8Array([104, 105]) }
        yield { name: 'blob', body: new Blob(['blob']) }
        yield { name: 'path', body: await openFile(join(directory, 'file')) }
        yield { name: 'large', body: new Blob([large]) }
        yield { name: 'middle', body: middle }
        yield { name: 'chunks', body: inChunks(middle, 1000) }
        yield { name: 'stream', body: new Blob(['streamed']).stream() }
        yield { name: 'empty', body: '' }
      }
      const results = await all(clientOf(service).uploadMany(given()))
      expect(results.filter(({ error }) => error)).to.deep.equal([])
      expect(results.map(({ name }) => name).join()).to.equal(
        'string,bytes,blob,path,large,middle,chunks,stream,empty',
      )
    } finally {
      await rm(directory, { recursive: true })
    }
    for (const [name, text] of Object.entries({
      string: 'grüße',
      bytes: 'hi',
      blob: 'blob',
      path: 'from a file',
      stream: 'streamed',
      empty: '',
    })) {
      expect(await textOf(name)).to.equal(text)
    }
    for (const [name, bytes] of Object.entries({ large, middle, chunks: middle })) {
      const found = await (await clientOf(service).download(name)).bytes()
      expect(Buffer.compare(found, bytes)).to.equal(0)
    }
  })

  it('stores what each file was when it was read, where the bytes are of one buffer', async () => {
    const buffer = Buffer.alloc(1)
    const given = function* (): Generator<FileToUpload> {
      for (const name of ['a', 'b', 'c']) {
        buffer.write(name)
        yield { name: `buffer ${name}`, body: buffer }
      }
    }
    await all(clientOf(service).uploadMany(given()))
    for (const name of ['a', 'b', 'c']) {
      expect(await (await clientOf(service).download(`buffer ${name}`)).text()).to.equal(name)
    }
  })

  it('stores names that forms write in several ways, and those that no form can have', async () => {
    const names = [
      '%22',
      '"',
      'a%22b',
      "it's (*)",
      '%',
      '\\',
      'a\\"b',
      ' ',
      'grüße; x=y',
      '密\ufeff',
    ]
    names.push('\ufeffa', '\ufffd', 'a\ufffd', '😀', '=?utf-8?q?x?=', 'x'.repeat(255))
    const given = names.map((name) => ({ name, body: `content of ${name}` }))
    const results = await all(clientOf(service).uploadMany(given))
    expect(summary(results)).to.deep.equal(stored(given))
    expect((await all(clientOf(service).list())).toSorted()).to.deep.equal(names.toSorted())
    for (const name of names) expect(await textOf(name)).to.equal(`content of ${name}`)
  })

  it('says of each file that is refused why, and stores the others', async () => {
    const good = { body: 'good', sha256: digestOf(Buffer.from('good')) }
    const names = ['..', 'a/b', 'a\nb', '', 'half \ud800', 'x'.repeat(256)]
    const given: FileToUpload[] = names.map((name) => ({ name, ...good }))
    given.push(
      { name: 'wrong', body: 'bad', sha256: digestOf(Buffer.from('good')) },
      { name: 'no digest', body: 'x', sha256: 'x' },
    )
    const results = await all(
      clientOf(service).uploadMany([
        { name: 'first', ...good },
        ...given,
        { name: 'last', ...good },
      ]),
    )
    expect(summary(results)).to.deep.equal([
      ['first', undefined],
      ['..', 'invalid-file-name'],
      ['a/b', 'invalid-file-name'],
      ['a\nb', 'invalid-file-name'],
      ['', 'no-file-name'],
      ['half \ud800', 'invalid-file-name'],
      ['x'.repeat(256), 'invalid-file-name'],
      ['wrong', 'digest-mismatch'],
      ['no digest', 'sha256 must be 64 hexadecimal digits'],
      ['last', undefined],
    ])
    expect(await all(clientOf(service).list())).to.deep.equal(['first', 'last'])
  })

  it('checks more digests than a form may have', async () => {
    const given = files(250).map((file) => ({
      ...file,
      sha256: digestOf(Buffer.from(file.body)),
    }))
    expect(summary(await all(clientOf(service).uploadMany(given)))).to.deep.equal(stored(given))
    expect(batches()).to.have.length(3)
  })

  it('only creates, where it is asked to', async () => {
    await clientOf(service).upload('00001.txt', 'earlier')
    const results = await all(clientOf(service).uploadMany(files(3), { createOnly: true }))
    expect(summary(results)).to.deep.equal([
      ['00000.txt', undefined],
      ['00001.txt', 'already-exists'],
      ['00002.txt', undefined],
    ])
    expect(await textOf('00001.txt')).to.equal('earlier')
  })

  it('leaves the last of several files of one name', async () => {
    const given = ['one', 'two', 'x'.repeat(300_000), 'three'].map((body) => ({ name: 'a', body }))
    expect(summary(await all(clientOf(service).uploadMany(given)))).to.deep.equal(stored(given))
    expect(await textOf('a')).to.equal('three')
  })

  it('goes on after a file that cannot be read', async () => {
    const failing = {
      size: 5,
      slice: async function* () {
        yield new Uint8Array(2)
        throw new Error('The disk failed')
      },
    }
    const short = { size: 5, slice: () => inChunks(new Uint8Array(2), 2) }
    const results = await all(
      clientOf(service).uploadMany([
        { name: 'a', body: failing },
        { name: 'b', body: 'b' },
        { name: 'c', body: short },
      ]),
    )
    expect(summary(results)).to.deep.equal([
      ['a', 'The disk failed'],
      ['b', undefined],
      ['c', 'changed-meanwhile'],
    ])
    expect(await all(clientOf(service).list())).to.deep.equal(['b'])
  })

  it('rejects with what concerns all files', async () => {
    const wrong = clientOf(service, { password: 'wrong' })
    expect(await rejection(all(wrong.uploadMany(files(2))))).to.include({
      code: 'invalid-credentials',
    })
    const none = clientOf({ port: 1 }, { retries: 0 })
    expect(await rejection(all(none.uploadMany(files(2))))).to.include({ code: 'no-answer' })
    expect(await all(clientOf(service).list())).to.deep.equal([])
  })

  it('ends with the reason of its signal', async () => {
    await using line = await startBadLine(service.port, ['silent'])
    const stop = new AbortController()
    const results = all(clientOf(line).uploadMany(files(2), { signal: stop.signal }))
    stop.abort(new Error('Enough'))
    expect(await rejection(results)).to.include({ message: 'Enough' })
    const late = clientOf(service).uploadMany(files(1), { signal: stop.signal })
    expect(await rejection(all(late))).to.include({ message: 'Enough' })
  })

  it('sends a file again that the store did not take for a moment', async () => {
    await using broken = await startService({
      store: createBrokenStore(['00001.txt', '00003.txt']),
    })
    const retries: Retry[] = []
    const client = clientOf(broken, { onRetry: (retry) => retries.push(retry) })
    expect(summary(await all(client.uploadMany(files(5))))).to.deep.equal(stored(files(5)))
    expect(retries.map(({ error }) => error.code)).to.deep.equal(['store-unavailable'])
    expect(await all(client.list())).to.have.length(5)
  })

  it('leaves the last of two files of one name where the first one is sent again', async () => {
    await using broken = await startService({ store: createBrokenStore(['a']) })
    const client = clientOf(broken)
    const given = ['one', 'two'].map((body) => ({ name: 'a', body }))
    expect(summary(await all(client.uploadMany(given)))).to.deep.equal(stored(given))
    expect(await (await client.download('a')).text()).to.equal('two')
  })

  it('may be given up after any file', async () => {
    for await (const { name } of clientOf(service).uploadMany(files(1500))) {
      if (name === '00003.txt') break
    }
    expect(batches()).to.have.length(1)
  })
})
