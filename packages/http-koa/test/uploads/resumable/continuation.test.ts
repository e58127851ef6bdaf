import { createHash } from 'node:crypto'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { auth, runApp } from '../../support/running-app.ts'
import { base64, createTusClient, named } from '../../support/tus-client.ts'

const length = { 'Upload-Length': '5' }
const checksum = (algorithm: string, text: string) => ({
  'Upload-Checksum': `${algorithm} ${createHash(algorithm).update(text).digest('base64')}`,
})

describe('PATCH /resumable/:id', () => {
  it('adds bytes where the upload stands, and publishes the file with the last', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    const first = await client.append(url, 0, 'He')
    expect(first).to.include({ status: 204, offset: 2, body: '' })
    expect(first.headers.has('upload-expires')).to.equal(true)
    expect(await app.names()).to.deep.equal([])
    const last = await client.append(url, 2, 'llo')
    expect(last).to.include({ status: 204, offset: 5 })
    expect(last.headers.has('upload-expires')).to.equal(false)
    expect(await app.names()).to.deep.equal(['a.txt'])
    const etag = (await fetch(`${app.url}/serve/a.txt`, { headers: auth })).headers.get('etag')
    expect(first.headers.has('upload-etag')).to.equal(false)
    expect(last.headers.get('upload-etag')).to.equal(etag)
  })

  it('adds no bytes from an empty body', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    expect(await client.append(url, 0, '')).to.include({ status: 204, offset: 0 })
  })

  it('refuses bytes that belong elsewhere, and those behind the end', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'He')
    expect((await client.append(url, 0, 'He')).status).to.equal(409)
    expect((await client.append(url, 3, 'lo')).status).to.equal(409)
    expect((await client.append(url, 2, 'lloo')).status).to.equal(413)
    expect((await client.head(url)).offset).to.equal(2)
    await client.append(url, 2, 'llo')
    expect((await client.append(url, 5, 'o')).status).to.be.oneOf([409, 413])
    expect((await app.files.stat('a.txt')).size).to.equal(5)
  })

  it('answers an empty part at the end of a published upload, whose last answer may have been lost', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ 'Upload-Defer-Length': '1' }, 'Hello')
    for (const headers of [length, length, {}]) {
      const answer = await client.append(url, 5, '', headers)
      expect(answer).to.include({ status: 204, offset: 5 })
      expect(answer.headers.has('upload-expires')).to.equal(false)
    }
    expect((await client.append(url, 4, '')).status).to.equal(409)
    expect((await client.append(url, 5, '', { 'Upload-Length': '6' })).status).to.equal(400)
    await app.files.delete('a.txt')
    expect((await client.append(url, 5, '')).status).to.equal(404)
    expect(await app.names()).to.deep.equal([])
  })

  for (const algorithm of ['sha1', 'sha256']) {
    it(`checks ${algorithm} of its body, of which all counts or nothing`, async () => {
      await using app = await runApp()
      const client = createTusClient(app.url)
      const { url } = await client.begin(length, 'He')
      expect(await client.append(url, 2, 'llo', checksum(algorithm, 'Hello'))).to.include({
        status: 460,
        body: '{"statusCode":460,"error":"Checksum Mismatch","message":"Checksum mismatch"}',
      })
      expect((await client.head(url)).offset).to.equal(2)
      expect(await app.names()).to.deep.equal([])
      expect((await client.append(url, 2, 'llo', checksum(algorithm, 'llo'))).status).to.equal(204)
      expect(await app.names()).to.deep.equal(['a.txt'])
    })
  }

  it('checks a body with the checksum that came with the first bytes', async () => {
    await using app = await runApp()
    const begun = await createTusClient(app.url).begin(
      { ...length, ...checksum('sha256', 'Hello') },
      'Hello',
    )
    expect(begun).to.include({ status: 201, offset: 5 })
  })

  it('takes the length that was deferred, once', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ 'Upload-Defer-Length': '1' })
    expect((await client.head(url)).headers.get('upload-defer-length')).to.equal('1')
    await client.append(url, 0, 'He')
    expect((await client.head(url)).headers.has('upload-length')).to.equal(false)
    expect((await client.append(url, 2, 'l', length)).status).to.equal(204)
    const { headers } = await client.head(url)
    expect(headers.get('upload-length')).to.equal('5')
    expect(headers.has('upload-defer-length')).to.equal(false)
    expect((await client.append(url, 3, 'l', { 'Upload-Length': '6' })).status).to.equal(400)
    expect((await client.append(url, 3, 'lo', length)).status).to.equal(204)
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('takes no deferred length with another offset', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ 'Upload-Defer-Length': '1' }, 'He')
    for (const offset of [0, 4]) {
      expect((await client.append(url, offset, 'l', { 'Upload-Length': '2' })).status).to.equal(409)
    }
    expect((await client.head(url)).headers.has('upload-length')).to.equal(false)
    expect((await client.append(url, 2, 'llo', length)).status).to.equal(204)
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('takes no deferred length with too many bytes', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ 'Upload-Defer-Length': '1' }, 'He')
    expect((await client.append(url, 2, 'llo', { 'Upload-Length': '4' })).status).to.equal(413)
    expect((await client.head(url)).headers.has('upload-length')).to.equal(false)
    expect((await client.append(url, 2, 'llo', length)).status).to.equal(204)
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('publishes what is there when the deferred length is declared', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ 'Upload-Defer-Length': '1' }, 'Hello')
    expect(await app.names()).to.deep.equal([])
    expect(await client.append(url, 5, '', length)).to.include({ status: 204, offset: 5 })
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  for (const [what, headers, status, message] of [
    ['no offset', { 'Upload-Offset': '' }, 400, 'Invalid upload-offset: it must be a whole number'],
    [
      'an offset that is none',
      { 'Upload-Offset': 'x' },
      400,
      'Invalid upload-offset: it must be a whole number',
    ],
    [
      'another type of body',
      { 'Content-Type': 'text/plain' },
      415,
      'Content-Type must be application/offset+octet-stream',
    ],
    ['another version', { 'Tus-Resumable': '0.2.2' }, 412, 'Tus-Resumable must be 1.0.0'],
    [
      'an unknown checksum',
      { 'Upload-Checksum': 'md5 YQ==' },
      400,
      'Invalid upload-checksum: the algorithm must be one of sha256, sha1',
    ],
    [
      'a checksum that is not Base64',
      { 'Upload-Checksum': 'sha1 !' },
      400,
      'Invalid upload-checksum: the checksum must be in Base64',
    ],
    [
      'a checksum without a value',
      { 'Upload-Checksum': 'sha1' },
      400,
      'Invalid upload-checksum: the checksum must be in Base64',
    ],
  ] as const) {
    it(`refuses ${what}, and adds nothing`, async () => {
      await using app = await runApp()
      const client = createTusClient(app.url)
      const { url } = await client.begin(length)
      const answer = await client.append(url, 0, 'Hello', headers)
      expect(answer.status).to.equal(status)
      expect(JSON.parse(answer.body)).to.include({ statusCode: status, message })
      expect((await client.head(url)).offset).to.equal(0)
    })
  }

  it('refuses a body without an offset', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    const headers = { 'Content-Type': 'Application/Offset+Octet-Stream; x=y' }
    const answer = await client.send('PATCH', url, headers, 'Hello')
    expect(answer.status).to.equal(400)
    expect(answer.body).to.include('Invalid upload-offset: it is missing')
  })
})

describe('HEAD /resumable/:id', () => {
  it('says how far an upload is, and what was said of it', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const metadata = `filename ${base64('a.txt')},filetype ${base64('text/plain')},is_confidential`
    const { url } = await client.begin({ ...length, 'Upload-Metadata': metadata }, 'He')
    const { status, headers, offset } = await client.head(url)
    expect({ status, offset }).to.deep.equal({ status: 200, offset: 2 })
    expect(headers.get('upload-length')).to.equal('5')
    expect(headers.get('upload-metadata')).to.equal(metadata)
    expect(headers.get('cache-control')).to.equal('no-store')
    expect(new Date(headers.get('upload-expires') ?? '').getTime()).to.be.above(Date.now())
  })

  it('says the digest of what has arrived to whoever asks for it, until the file is published', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'Hel')
    const digestFor = async (wanted?: string) => {
      const asking = wanted === undefined ? {} : { 'Want-Repr-Digest': wanted }
      return (await client.send('HEAD', url, asking)).headers.get('repr-digest')
    }
    const digest = `sha-256=:${createHash('sha256').update('Hel').digest('base64')}:`
    for (const wanted of ['sha-256=1', 'sha-512=3, SHA-256=10', 'sha-256']) {
      expect(await digestFor(wanted), wanted).to.equal(digest)
    }
    for (const wanted of [undefined, '', 'sha-256=0', 'sha-512=1', 'x-sha-256=1']) {
      expect(await digestFor(wanted), wanted).to.equal(null)
    }
    expect((await client.append(url, 3, 'lo')).status).to.equal(204)
    expect(await digestFor('sha-256=1')).to.equal(null)
  })

  it('says that an upload is whole whose file is published, until that is deleted', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'Hello')
    const { status, offset, headers } = await client.head(url)
    expect({ status, offset }).to.deep.equal({ status: 200, offset: 5 })
    expect(headers.has('upload-expires')).to.equal(false)
    await app.files.delete('a.txt')
    expect((await client.head(url)).status).to.equal(404)
    expect((await client.append(url, 5, '')).status).to.equal(404)
    expect((await client.append(url, 0, 'Hello')).status).to.equal(404)
    expect(await app.names()).to.deep.equal([])
  })

  it('publishes an upload that has all of its bytes, if that failed before', async () => {
    const store = createMemoryBlobStore()
    const { resumable } = store
    if (!resumable) throw new Error('The memory store keeps uploads in pieces')
    let failures = 1
    const publish: typeof resumable.publish = async (key) => {
      if (failures-- > 0) throw new Error('the store fails once')
      return resumable.publish(key)
    }
    await using app = await runApp({ store: { ...store, resumable: { ...resumable, publish } } })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    expect((await client.append(url, 0, 'Hello')).status).to.equal(500)
    expect(await app.names()).to.deep.equal([])
    expect(await client.head(url)).to.include({ status: 200, offset: 5 })
    expect(await app.names()).to.deep.equal(['a.txt'])
  })
})

describe('DELETE /resumable/:id', () => {
  it('drops an upload', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'He')
    expect((await client.send('DELETE', url)).status).to.equal(204)
    expect((await client.head(url)).status).to.equal(404)
    expect((await client.append(url, 2, 'llo')).status).to.equal(404)
    expect((await client.send('DELETE', url)).status).to.equal(404)
    expect(await app.names()).to.deep.equal([])
  })

  it('leaves a file alone that the upload has published', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ ...length, ...named('b.txt') }, 'Hello')
    expect((await client.send('DELETE', url)).status).to.equal(204)
    expect((await client.head(url)).status).to.equal(404)
    expect(await app.names()).to.deep.equal(['b.txt'])
  })
})
