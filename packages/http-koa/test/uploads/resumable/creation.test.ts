import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { runApp } from '../../support/running-app.ts'
import { base64, createTusClient, named, pieceType } from '../../support/tus-client.ts'

const length = { 'Upload-Length': '5' }
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('POST /resumable', () => {
  it('begins an upload, which is no file yet', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begun = await client.begin(length)
    expect(begun).to.include({ status: 201, offset: 0, body: '' })
    expect(begun.headers.get('tus-resumable')).to.equal('1.0.0')
    expect(begun.headers.get('upload-expires')).to.match(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/)
    expect(await app.names()).to.deep.equal([])
  })

  it('says where the upload is relative to the URL that was asked', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begin = async (path: string) => {
      const { headers } = await client.send('POST', `${app.url}${path}`, {
        ...length,
        ...named('a'),
      })
      return headers.get('location') ?? ''
    }
    expect(await begin('/resumable')).to.match(/^resumable\/[\w-]{16,64}$/)
    expect(await begin('/resumable/')).to.match(/^[\w-]{16,64}$/)
  })

  it('takes the first bytes with it', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begun = await client.begin(length, 'He')
    expect(begun).to.include({ status: 201, offset: 2 })
    expect((await client.head(begun.url)).offset).to.equal(2)
  })

  it('publishes a file whose bytes are all there', async () => {
    await using app = await runApp()
    const begun = await createTusClient(app.url).begin(length, 'Hello')
    expect(begun).to.include({ status: 201, offset: 5 })
    expect(begun.headers.has('upload-expires')).to.equal(false)
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('publishes an empty file at once', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begun = await client.begin({ 'Upload-Length': '0' })
    expect(begun).to.include({ status: 201, offset: 0 })
    expect(await app.names()).to.deep.equal(['a.txt'])
    expect((await client.head(begun.url)).headers.get('upload-length')).to.equal('0')
  })

  it('names the file by filename, or else by name, whatever else the metadata has', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const metadata = [
      `name ${base64('no')},filename ${base64('Füße 100%.txt')},filetype ${base64('text/plain')}`,
      `is_confidential, name ${base64('b.txt')},empty `,
    ]
    for (const each of metadata) {
      await client.begin({ 'Upload-Length': '0', 'Upload-Metadata': each })
    }
    expect(await app.names()).to.deep.equal(['Füße 100%.txt', 'b.txt'])
  })

  it('replaces an earlier file only once the last byte has come', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    await app.files.upload('a.txt', 'earlier')
    const { url } = await client.begin(length, 'Hell')
    expect((await app.files.stat('a.txt')).size).to.equal(7)
    await client.append(url, 4, 'o')
    expect((await app.files.stat('a.txt')).size).to.equal(5)
  })

  const createOnly = { 'If-None-Match': '*' }

  it('creates only, if it is asked to', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ ...length, ...createOnly })
    await app.files.upload('a.txt', 'earlier')
    expect((await client.begin({ ...length, ...createOnly })).status).to.equal(412)
    expect((await client.append(url, 0, 'Hello')).status).to.equal(412)
    expect((await app.files.stat('a.txt')).size).to.equal(7)
  })

  it('never says that an upload has all its bytes whose name is taken meanwhile', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ ...length, ...createOnly })
    await app.files.upload('a.txt', 'earlier')
    await client.append(url, 0, 'Hello')
    expect((await client.head(url)).status).to.equal(412)
    await app.files.delete('a.txt')
    expect(await client.head(url)).to.include({ status: 200, offset: 5 })
    expect((await app.files.stat('a.txt')).size).to.equal(5)
  })

  it('checks the digest of the whole file before it is visible', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begin = (digest: string) =>
      client.begin({
        ...length,
        'Upload-Metadata': `filename ${base64(digest)},sha256 ${base64(digest)}`,
      })
    const right = sha256('Hello').toUpperCase()
    const wrong = sha256('Other')
    const bad = await begin(wrong)
    expect(await client.append(bad.url, 0, 'Hello')).to.include({
      status: 400,
      body: '{"statusCode":400,"error":"Bad Request","message":"Digest mismatch"}',
    })
    expect((await client.head(bad.url)).status).to.equal(404)
    const good = await begin(right)
    expect((await client.append(good.url, 0, 'Hel')).status).to.equal(204)
    expect((await client.append(good.url, 3, 'lo')).status).to.equal(204)
    expect(await app.names()).to.deep.equal([right])
  })

  const filename = (bytes: string | Buffer) => `filename ${Buffer.from(bytes).toString('base64')}`
  const text = 'Invalid filename: it '
  for (const [what, headers, status, message] of [
    ['no length', {}, 400, 'Invalid upload-length: it is missing, and so is upload-defer-length'],
    [
      'a negative length',
      { 'Upload-Length': '-1' },
      400,
      'Invalid upload-length: it must be a whole number',
    ],
    [
      'a length beyond all numbers',
      { 'Upload-Length': '9'.repeat(17) },
      400,
      'Invalid upload-length: it must be a whole number',
    ],
    [
      'a length that is none',
      { 'Upload-Length': '1e3' },
      400,
      'Invalid upload-length: it must be a whole number',
    ],
    ['a length above the largest file', { 'Upload-Length': '101' }, 413, 'File too large'],
    [
      'a deferred length beside a length',
      { ...length, 'Upload-Defer-Length': '1' },
      400,
      'Invalid upload-defer-length: upload-length was sent, too',
    ],
    [
      'an odd deferred length',
      { 'Upload-Defer-Length': '2' },
      400,
      'Invalid upload-defer-length: it must be 1',
    ],
    [
      'no name',
      { ...length, 'Upload-Metadata': 'filetype eA==' },
      400,
      'No filename. Use Upload-Metadata: filename <base64>',
    ],
    [
      'no metadata',
      { ...length, 'Upload-Metadata': '' },
      400,
      'No filename. Use Upload-Metadata: filename <base64>',
    ],
    ['an empty name', { ...length, 'Upload-Metadata': 'filename' }, 400, `${text}is empty`],
    ['a path', { ...length, 'Upload-Metadata': filename('a/b') }, 400, `${text}contains a slash`],
    [
      'a control character',
      { ...length, 'Upload-Metadata': filename('a\n') },
      400,
      `${text}contains a control character`,
    ],
    ['the name ..', { ...length, 'Upload-Metadata': filename('..') }, 400, `${text}is ".."`],
    [
      'a name that is not UTF-8',
      { ...length, 'Upload-Metadata': filename(Buffer.from([0xff])) },
      400,
      'Invalid upload-metadata: a value is not UTF-8',
    ],
    [
      'a value that is not Base64',
      { ...length, 'Upload-Metadata': 'filename a.txt' },
      400,
      'Invalid upload-metadata: a value is not Base64',
    ],
    [
      'too many words',
      { ...length, 'Upload-Metadata': 'filename YQ== YQ==' },
      400,
      'Invalid upload-metadata: a value is not Base64',
    ],
    [
      'a key twice',
      { ...length, 'Upload-Metadata': 'filename YQ==,filename YQ==' },
      400,
      'Invalid upload-metadata: a key occurs twice',
    ],
    [
      'an empty key',
      { ...length, 'Upload-Metadata': 'filename YQ==,' },
      400,
      'Invalid upload-metadata: a key is empty',
    ],
    [
      'much metadata',
      { ...length, 'Upload-Metadata': `filename YQ==,x ${'YQ=='.repeat(1024)}` },
      400,
      'Invalid upload-metadata: it is longer than 4096 bytes',
    ],
    [
      'an odd digest',
      { ...length, 'Upload-Metadata': 'filename YQ==,sha256 YQ==' },
      400,
      'Invalid sha256: it must be sent once, as 64 hexadecimal digits',
    ],
    [
      'a part of another upload',
      { ...length, 'Upload-Concat': 'partial' },
      400,
      'Invalid upload-concat: uploads cannot be joined',
    ],
    [
      'a condition that is not known',
      { ...length, 'If-Match': '"x"' },
      400,
      'Invalid if-match: uploads support only "If-None-Match: *"',
    ],
    [
      'a version',
      { ...length, 'If-None-Match': '"x"' },
      400,
      'Invalid if-none-match: uploads support only "*"',
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await using app = await runApp({ maxFileSize: 100 })
      const answer = await createTusClient(app.url).begin(headers)
      expect(answer.status).to.equal(status)
      expect(JSON.parse(answer.body)).to.include({ statusCode: status, message })
      expect(answer.headers.get('tus-resumable')).to.equal('1.0.0')
      expect(answer.headers.has('location')).to.equal(false)
    })
  }

  for (const [what, headers, body, status] of [
    ['another type of body', { ...length, 'Content-Type': 'text/plain' }, 'Hello', 415],
    ['more bytes than the length', length, 'Hello!', 413],
    ['bytes of an empty file', { 'Upload-Length': '0' }, 'Hello!', 413],
    ['another checksum', { ...length, 'Upload-Checksum': `sha1 ${base64('x')}` }, 'Hello', 460],
    ['an unknown checksum', { ...length, 'Upload-Checksum': 'crc32 YQ==' }, 'Hello', 400],
  ] as const) {
    it(`begins nothing for ${what}`, async () => {
      await using app = await runApp()
      await app.files.upload('a.txt', 'earlier')
      const answer = await createTusClient(app.url).begin({ ...pieceType, ...headers }, body)
      expect(answer.status).to.equal(status)
      expect((await app.files.stat('a.txt')).size).to.equal(7)
      const uploads = app.files.resumable?.list()
      for await (const page of uploads ?? []) expect(page).to.deep.equal([])
    })
  }
})
