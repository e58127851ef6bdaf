import { expect } from 'chai'
import { runApp } from '../../support/running-app.ts'
import { createTusClient } from '../../support/tus-client.ts'

const length = { 'Upload-Length': '5' }

/** Sentences of tus 1.0 that the tests beside this one do not come upon. */
describe('/resumable, by the text of tus 1.0', () => {
  it('goes on after every HEAD, as often as the line breaks', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    for (const [offset, byte] of ['H', 'e', 'l', 'l', 'o'].entries()) {
      expect((await client.head(url)).offset).to.equal(offset)
      expect(await client.append(url, offset, byte)).to.include({ status: 204, offset: offset + 1 })
    }
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('says its version in each answer, a refusal too', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'He')
    for (const [status, answer] of [
      [200, await client.head(url)],
      [404, await client.head(`${url}x`)],
      [404, await client.append(`${url}x`, 0, 'He')],
      [409, await client.append(url, 0, 'He')],
      [413, await client.append(url, 2, 'lloo')],
      [415, await client.append(url, 2, 'llo', { 'Content-Type': 'text/plain' })],
      [204, await client.append(url, 2, 'llo')],
    ] as const) {
      expect(answer.status).to.equal(status)
      expect(answer.headers.get('tus-resumable'), String(status)).to.equal('1.0.0')
    }
  })

  it('names the versions that it speaks to a client of another one, and changes nothing', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'He')
    for (const method of ['HEAD', 'PATCH', 'DELETE']) {
      const answer = await client.send(method, url, { 'Tus-Resumable': '0.2.2' })
      expect(answer.status).to.equal(412)
      expect(answer.headers.get('tus-version')).to.equal('1.0.0')
    }
    expect((await client.head(url)).offset).to.equal(2)
  })

  it('says of an upload without a length that it has none, until it gets one', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin({ 'Upload-Defer-Length': '1' }, 'He')
    const before = (await client.head(url)).headers
    expect(before.get('upload-defer-length')).to.equal('1')
    expect(before.has('upload-length')).to.equal(false)
    await client.append(url, 2, 'l', length)
    const after = (await client.head(url)).headers
    expect(after.get('upload-length')).to.equal('5')
    expect(after.has('upload-defer-length')).to.equal(false)
  })

  it('says with each piece when an unfinished upload expires', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begun = await client.begin(length)
    const appended = await client.append(begun.url, 0, 'He')
    for (const { headers } of [begun, appended]) {
      const expires = headers.get('upload-expires') ?? ''
      expect(expires).to.equal(new Date(expires).toUTCString())
      expect(new Date(expires).getTime()).to.be.above(Date.now())
    }
  })

  it('keeps a whole upload as it is, whatever else is sent for it', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'Hello')
    expect((await client.append(url, 0, 'Other')).status).to.equal(409)
    expect(await client.head(url)).to.include({ status: 200, offset: 5 })
    expect((await app.files.stat('a.txt')).size).to.equal(5)
  })

  it('gives two uploads that begin at once two URLs', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const begun = await Promise.all(Array.from({ length: 5 }, () => client.begin(length)))
    expect(new Set(begun.map(({ url }) => url)).size).to.equal(5)
  })
})
