import { createHash } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import { until } from '@holdfast/testing'
import { auth, runApp } from '../../support/running-app.ts'
import { createClient, read, running, version } from './draft-client.ts'

const digestOf = (text: string) => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`

describe('PUT /upload/:filename by the draft of resumable uploads', () => {
  it('begins an upload with the first part of the file, which is not visible yet', async () => {
    await using app = await running()
    const begun = await createClient(app).begin('He', { 'Upload-Length': '5' })
    expect(begun).to.include({ status: 201, complete: '?0', offset: '2', body: '' })
    expect(begun.upload).to.match(/^\/uploads\/[\w-]{16,64}$/)
    expect(begun.headers.get('upload-limit')).to.match(/^max-age=60(?:47|48)\d\d$/)
    expect(await app.names()).to.deep.equal([])
  })

  it('goes on where the upload stands, and answers the last part as it answers a whole file', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He')
    expect(await client.append(upload, 2, false, 'l')).to.include({
      status: 204,
      complete: '?0',
      offset: '3',
    })
    const last = await client.append(upload, 3, true, 'lo')
    expect(last).to.include({ status: 200, complete: '?1', body: 'OK' })
    expect(last.headers.get('etag')).to.equal(`"${(await app.files.stat('a.txt')).etag}"`)
    expect(await read(app)).to.equal('Hello')
  })

  it('completes an upload by an empty part, and says so again when the answer was lost', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('Hello')
    for (let time = 0; time < 2; time++) {
      expect(await client.append(upload, 5, true, '')).to.include({ status: 200, complete: '?1' })
    }
    expect(await client.send('HEAD', upload, {})).to.include({ complete: '?1', offset: '5' })
    expect(await client.append(upload, 5, true, 'more')).to.include({ status: 409 })
  })

  it('stores a whole file as ever, and says where to go on if the connection breaks', async () => {
    await using app = await running()
    const headers = { ...auth, ...version, 'Upload-Complete': '?1', 'Content-Length': 5 }
    const sending = request(`${app.url}/upload/a.txt`, { method: 'PUT', headers })
    const informed = once(sending, 'information')
    const answered = once(sending, 'response')
    sending.write('He')
    const [information] = (await informed) as [IncomingMessage]
    expect(information.statusCode).to.equal(104)
    expect(information.headers).to.include({ 'upload-draft-interop-version': '8' })
    expect(information.headers.location).to.match(/^\.\.\/uploads\//)
    sending.end('llo')
    const [answer] = (await answered) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers['upload-complete']).to.equal('?1')
    expect(await read(app)).to.equal('Hello')
  })

  it('leaves an upload open that has all of its bytes until its client completes it', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He', { 'Upload-Length': '5' })
    const all = { status: 204, complete: '?0', offset: '5' }
    expect(await client.append(upload, 2, false, 'llo')).to.include(all)
    expect(await client.send('HEAD', upload, {})).to.include(all)
    expect(await app.names()).to.deep.equal([])
    expect(await client.append(upload, 5, true, '')).to.include({ status: 200, complete: '?1' })
    expect(await read(app)).to.equal('Hello')
  })

  it('leaves an upload without a byte open until its client completes it', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload, ...begun } = await client.begin('', { 'Upload-Length': '0' })
    expect(begun).to.include({ status: 201, complete: '?0', offset: '0' })
    expect(await app.names()).to.deep.equal([])
    expect(await client.append(upload, 0, true, '')).to.include({ status: 200, complete: '?1' })
    expect(await read(app)).to.equal('')
  })

  it('keeps what came before the connection broke', async () => {
    await using app = await running()
    const client = createClient(app)
    const lines = Object.entries({ ...auth, ...version, 'Upload-Complete': '?1', Host: 'a' })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    let seen = ''
    socket.on('data', (bytes) => (seen += bytes.toString('latin1')))
    socket.write(`PUT /upload/a.txt HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nHe`)
    await until('the location of the upload', () => /Location: \.\.(\S+)/i.test(seen))
    const upload = /Location: \.\.(\S+)/i.exec(seen)?.[1] ?? ''
    const offset = async () => (await client.send('HEAD', upload, {})).offset
    // The offset shows what has arrived; the request for it ends the one under way.
    socket.destroy()
    await until('two bytes', async () => (await offset()) === '2')
    expect(await app.names()).to.deep.equal([])
    expect(await client.append(upload, 2, true, 'llo')).to.include({ status: 200, complete: '?1' })
    expect(await read(app)).to.equal('Hello')
  })

  it('says how far an upload is, and what it is limited to', async () => {
    await using app = await runApp({ resumableDraft: true, maxFileSize: 10 })
    const client = createClient(app)
    const { upload } = await client.begin('He', { 'Upload-Length': '5' })
    for (const method of ['HEAD', 'GET']) {
      const { headers, ...state } = await client.send(method, upload, {})
      expect(state).to.include({ status: 204, complete: '?0', offset: '2' })
      expect(headers.get('upload-length')).to.equal('5')
      expect(headers.get('cache-control')).to.equal('no-store')
      expect(headers.get('upload-limit')).to.match(/^max-size=10, max-age=\d+$/)
    }
    for (const path of ['/upload', '/upload/a.txt']) {
      const { headers } = await client.send('OPTIONS', path, {})
      expect(headers.get('upload-limit')).to.equal('max-size=10')
    }
  })

  it('answers another offset with the right one', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He')
    expect(await client.append(upload, 0, true, 'Hello')).to.include({
      status: 409,
      complete: '?0',
      offset: '2',
    })
  })

  it('refuses more unfinished uploads than a customer may have, as tus does', async () => {
    await using app = await runApp({ resumableDraft: true, maxUnfinishedUploads: 1 })
    const client = createClient(app)
    const { upload } = await client.begin('He')
    const refused = await client.begin('He')
    expect(refused).to.include({ status: 413, complete: '?0' })
    const message = 'Quota exceeded: there are 1 of 1 unfinished uploads'
    expect(JSON.parse(refused.body)).to.include({ message })
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '5' }
    const named = { ...headers, 'Upload-Metadata': `filename ${btoa('b.txt')}` }
    expect(await client.send('POST', '/resumable', named)).to.include({ status: 413 })
    expect(await client.append(upload, 2, true, 'llo')).to.include({ status: 200 })
    expect(await client.send('POST', '/resumable', named)).to.include({ status: 201 })
  })

  it('cancels an upload', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He')
    expect(await client.send('DELETE', upload, {})).to.include({ status: 204 })
    expect(await client.send('HEAD', upload, {})).to.include({ status: 404 })
    expect(await client.append(upload, 2, true, 'llo')).to.include({ status: 404 })
  })

  it('refuses lengths that differ, and ends an upload that exceeds its length', async () => {
    await using app = await running()
    const client = createClient(app)
    const begun = await client.begin('He', { 'Upload-Length': '5' })
    const { upload } = begun
    const other = await client.append(upload, 2, false, 'l', { 'Upload-Length': '6' })
    expect(other).to.include({ status: 400, complete: '?0' })
    expect(await client.append(upload, 2, true, 'l')).to.include({ status: 400 })
    expect(await client.append(upload, 2, false, 'llo!')).to.include({
      status: 413,
      complete: '?1',
    })
    expect(await client.send('HEAD', upload, {})).to.include({ status: 404 })
  })

  it('checks the digest of each part, and that of the whole file', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He', { 'Repr-Digest': digestOf('Hello') })
    const wrong = { 'Content-Digest': digestOf('other') }
    expect(await client.append(upload, 2, true, 'llo', wrong)).to.include({
      status: 400,
      complete: '?0',
    })
    expect(await client.send('HEAD', upload, {})).to.include({ offset: '2' })
    const right = { 'Content-Digest': digestOf('llo') }
    expect(await client.append(upload, 2, true, 'llo', right)).to.include({ status: 200 })
    const second = await client.begin('He', { 'Repr-Digest': digestOf('other') })
    expect(await client.append(second.upload, 2, true, 'llo')).to.include({
      status: 400,
      complete: '?1',
    })
    expect(await read(app)).to.equal('Hello')
  })

  it('creates only, where the client asks for that', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He', { 'If-None-Match': '*' })
    await app.files.upload('a.txt', 'first')
    expect(await client.append(upload, 2, true, 'llo')).to.include({ status: 412 })
    expect((await client.begin('He', { 'If-None-Match': '*' })).status).to.equal(412)
    expect(await read(app)).to.equal('first')
  })

  for (const [what, headers] of [
    ['without an offset', { 'Upload-Offset': '' }],
    ['with an offset that is none', { 'Upload-Offset': '-1' }],
    ['without a word on completeness', { 'Upload-Complete': '1' }],
    ['that is the last one and is not', { 'Upload-Complete': '?1;a, ?0' }],
    ['with two offsets', { 'Upload-Offset': '2;a, 3' }],
  ] as const) {
    it(`refuses a part ${what}`, async () => {
      await using app = await running()
      const client = createClient(app)
      const { upload } = await client.begin('He')
      expect(await client.append(upload, 2, false, 'l', headers)).to.include({ status: 400 })
      expect(await client.send('HEAD', upload, {})).to.include({ offset: '2' })
    })
  }

  it('refuses a part of another type', async () => {
    await using app = await running()
    const client = createClient(app)
    const { upload } = await client.begin('He')
    const type = { 'Content-Type': 'text/plain' }
    expect(await client.append(upload, 2, false, 'l', type)).to.include({ status: 415 })
  })

  it('never takes a part for the whole file, in no version of the draft and without it', async () => {
    for (const resumableDraft of [true, false]) {
      await using app = await runApp({ resumableDraft })
      const client = createClient(app)
      const other = { 'Upload-Draft-Interop-Version': '6', 'Upload-Complete': '?0' }
      const refused = await client.send('PUT', '/upload/a.txt', other, 'He')
      expect(refused.status).to.equal(400)
      expect(await app.names()).to.deep.equal([])
      const whole = await client.send(
        'PUT',
        '/upload/a.txt',
        { ...other, 'Upload-Complete': '?1' },
        'He',
      )
      expect(whole).to.include({ status: 200, body: 'OK' })
    }
  })

  for (const complete of ['?0, ?1', '?1, ?0', '?1, ?1', '?1;a, ?0', '?1;a="b, ?0', '0', '1', '']) {
    it(`takes no file for whole whose Upload-Complete is "${complete}"`, async () => {
      for (const resumableDraft of [true, false]) {
        await using app = await runApp({ resumableDraft })
        const client = createClient(app)
        const headers = { 'Upload-Complete': complete }
        const refused = await client.send('PUT', '/upload/a.txt', headers, 'He')
        expect(refused.status).to.equal(400)
        expect(await app.names()).to.deep.equal([])
      }
    })
  }

  for (const complete of ['?1;a', '?1; a=1;b="?0, \\"?0"']) {
    it(`ignores the parameters of Upload-Complete in "${complete}"`, async () => {
      await using app = await running()
      const headers = { 'Upload-Complete': complete }
      const stored = await createClient(app).send('PUT', '/upload/a.txt', headers, 'Hello')
      expect(stored).to.include({ status: 200, complete: '?1' })
      expect(await read(app)).to.equal('Hello')
    })
  }
})
