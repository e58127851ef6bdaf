import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { credentials, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

const version = { 'Upload-Draft-Interop-Version': '8' }
const piece = { ...version, 'Content-Type': 'application/partial-upload' }

describe('holdfast serve --resumable-draft', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  const { site } = holdfast

  const start = async (flags: readonly string[]) => {
    const serving = await holdfast.start(['--audit-log', 'audit.jsonl', ...flags])
    return (
      method: string,
      path: string,
      headers: Readonly<Record<string, string>>,
      body?: string,
    ) =>
      fetch(new URL(path, serving.url), {
        method,
        headers: { ...credentials, ...headers },
        ...(body !== undefined && { body }),
      })
  }
  const recorded = async () => {
    const trail = await readFile(join(site.path, 'audit.jsonl'), 'utf8')
    const events = trail
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    return events.filter((event) => 'event' in event && event.event === 'upload')
  }

  it('takes a file in pieces, and records it once, when it is complete', async () => {
    const send = await start(['--resumable-draft'])
    const begin = { ...version, 'Upload-Complete': '?0', 'Upload-Length': '15' }
    const begun = await send('PUT', '/upload/a.txt', begin, 'Hello')
    expect(begun.status).to.equal(201)
    const upload = new URL(begun.headers.get('location') ?? '', new URL('/upload/a.txt', begun.url))
    const path = upload.pathname
    const head = await send('HEAD', path, version)
    expect(head.headers.get('upload-offset')).to.equal('5')
    const second = { ...piece, 'Upload-Offset': '5', 'Upload-Complete': '?0' }
    expect((await send('PATCH', path, second, ', hold')).status).to.equal(204)
    expect((await send('GET', '/serve/a.txt', {})).status).to.equal(400)
    const last = { ...piece, 'Upload-Offset': '11', 'Upload-Complete': '?1' }
    const done = await send('PATCH', path, last, 'fast')
    expect(done.status).to.equal(200)
    expect(done.headers.get('upload-complete')).to.equal('?1')
    expect(await (await send('GET', '/serve/a.txt', {})).text()).to.equal('Hello, holdfast')
    const [event, ...more] = await recorded()
    expect(event).to.include({ outcome: 'ok', file: 'a.txt', bytes: 15, customer: 'demo' })
    expect(more).to.deep.equal([])
  })

  it('records a file that came by tus once, when it is complete', async () => {
    const send = await start([])
    const tus = { 'Tus-Resumable': '1.0.0' }
    const part = { ...tus, 'Content-Type': 'application/offset+octet-stream' }
    const metadata = `filename ${btoa('a.txt')}`
    const begin = { ...part, 'Upload-Length': '15', 'Upload-Metadata': metadata }
    const begun = await send('POST', '/resumable', begin, 'Hello')
    expect(begun.status).to.equal(201)
    const path = `/${begun.headers.get('location') ?? ''}`
    expect(
      (await send('PATCH', path, { ...part, 'Upload-Offset': '5' }, ', hold')).status,
    ).to.equal(204)
    expect((await send('HEAD', path, tus)).headers.get('upload-offset')).to.equal('11')
    expect((await send('PATCH', path, { ...part, 'Upload-Offset': '11' }, 'fast')).status).to.equal(
      204,
    )
    expect((await send('HEAD', path, tus)).headers.get('upload-offset')).to.equal('15')
    expect(await recorded()).to.have.length(1)
  })

  it('begins none without the flag', async () => {
    const send = await start([])
    const begin = { ...version, 'Upload-Complete': '?0' }
    expect((await send('PUT', '/upload/a.txt', begin, 'Hello')).status).to.equal(400)
    expect((await send('HEAD', '/uploads/0123456789abcdef', version)).status).to.equal(404)
  })
})
