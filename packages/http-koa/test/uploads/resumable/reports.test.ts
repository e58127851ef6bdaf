import { openConnection, until } from '@holdfast/testing'
import type { Uploaded } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import type { AnsweredRequest } from '../../../src/server/exchange.ts'
import { collectAudit, event } from '../../support/collected-audit.ts'
import { request } from '../../support/request.ts'
import { auth, runApp } from '../../support/running-app.ts'
import { createTusClient, pieceType } from '../../support/tus-client.ts'

const length = { 'Upload-Length': '5' }

/** PATCH that announces five bytes and sends these. */
function brokenPatch(url: string, body: string): Buffer {
  const headers = {
    ...auth,
    ...pieceType,
    'Tus-Resumable': '1.0.0',
    'Upload-Offset': 0,
    'Content-Length': 5,
  }
  return Buffer.concat([request('PATCH', new URL(url).pathname, headers), Buffer.from(body)])
}

describe('An upload by tus', () => {
  it('calls the hook once, when its file is there', async () => {
    const uploaded: Uploaded[] = []
    const hooks = { onUploaded: (upload: Uploaded) => void uploaded.push(upload) }
    await using app = await runApp({ hooks })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'He')
    expect(uploaded).to.have.length(0)
    await client.append(url, 2, 'llo')
    await client.head(url)
    expect(uploaded.map(({ file }) => file)).to.deep.equal([await app.files.stat('a.txt')])
  })

  it('has one line in the audit trail for its file, and one for each request that is refused', async () => {
    const trail = collectAudit()
    await using app = await runApp({ audit: trail.audit, maxFileSize: 100 })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length, 'He')
    await client.append(url, 3, 'lo')
    await client.append(url, 2, 'llo')
    await client.head(url)
    await client.begin({ 'Upload-Length': '101' })
    await client.send('DELETE', url)
    await client.head(url)
    expect(trail.stable()).to.deep.equal([
      event({ outcome: 'refused', reason: 'upload-conflict' }),
      event({ file: 'a.txt', bytes: 5 }),
      event({ outcome: 'refused', reason: 'file-too-large', file: 'a.txt' }),
    ])
  })

  it('has one line in the audit trail where a HEAD meets the publication', async () => {
    const store = createMemoryBlobStore()
    const { resumable } = store
    if (!resumable) throw new Error('The memory store keeps uploads in pieces')
    const [begun, met] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    let isPublishing = false
    const publish: typeof resumable.publish = async (key) => {
      isPublishing = true
      begun.resolve(undefined)
      await met.promise
      return resumable.publish(key)
    }
    const state: typeof resumable.state = async (key) => {
      const upload = await resumable.state(key)
      if (isPublishing) met.resolve(undefined)
      return upload
    }
    const trail = collectAudit()
    const gated = { ...store, resumable: { ...resumable, publish, state } }
    await using app = await runApp({ audit: trail.audit, store: gated })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    const appending = client.append(url, 0, 'Hello')
    await begun.promise
    expect(await client.head(url)).to.include({ status: 200, offset: 5 })
    expect((await appending).status).to.equal(204)
    expect(trail.stable()).to.deep.equal([event({ file: 'a.txt', bytes: 5 })])
  })

  it('has a line in the log for each request, with the real reason', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    await client.append(url, 1, 'ello')
    await until('both are logged', () => app.log.lines.length === 2)
    const lines = app.log.lines.map(({ fields: { method, status, customer, reason } }) => ({
      method,
      status,
      customer,
      reason,
    }))
    expect(lines).to.deep.equal([
      { method: 'POST', status: 201, customer: 'demo', reason: undefined },
      {
        method: 'PATCH',
        status: 409,
        customer: 'demo',
        reason: 'The upload has 0 bytes, not 1',
      },
    ])
  })

  it('is counted under a route of its own', async () => {
    const answered: AnsweredRequest[] = []
    await using app = await runApp({ onAnswered: (each) => void answered.push(each) })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    await client.head(url)
    await client.append(url, 0, 'Hello', { 'Content-Type': 'text/plain' })
    await client.send('GET', url)
    await until('all are reported', () => answered.length === 4)
    expect(answered.map(({ route, code }) => [route, code])).to.deep.equal([
      ['resumable', undefined],
      ['resumable', undefined],
      ['resumable', 'unknown-content-type'],
      ['other', 'method-not-allowed'],
    ])
  })
})

describe('A client that vanishes', () => {
  it('finds what it has sent', async () => {
    const trail = collectAudit()
    await using app = await runApp({ audit: trail.audit })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    using connection = await openConnection(app.port, { staysOpen: true })
    connection.write(brokenPatch(url, 'Hel'))
    await until('the bytes are there', async () => (await stateOf(app)) === 3)
    connection.reset()
    await until('the request is over', () => trail.events.length === 1)
    expect(trail.stable()).to.deep.equal([event({ outcome: 'aborted', reason: 'truncated-body' })])
    expect((await client.head(url)).offset).to.equal(3)
    await client.append(url, 3, 'lo')
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('need not wait for the end of a request that stalls', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    using stalled = await openConnection(app.port, { staysOpen: true })
    stalled.write(brokenPatch(url, 'Hel'))
    await until('the bytes are there', async () => (await stateOf(app)) === 3)
    expect((await client.head(url)).offset).to.equal(3)
    expect((await client.append(url, 3, 'lo')).status).to.equal(204)
    const answer = await stalled.answer()
    expect(answer.status).to.equal(409)
    expect(answer.headers.get('tus-resumable')).to.equal('1.0.0')
    expect(await app.names()).to.deep.equal(['a.txt'])
  })

  it('can have its request ended by the next one', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    using stalled = await openConnection(app.port, { staysOpen: true })
    stalled.write(brokenPatch(url, 'Hel'))
    await until('the bytes are there', async () => (await stateOf(app)) === 3)
    expect((await client.append(url, 3, 'lo')).status).to.equal(204)
    expect((await stalled.answer()).status).to.equal(409)
  })

  it('is cut for want of progress, and what it has sent stays', async () => {
    await using app = await runApp({ idleTimeoutMs: 300 })
    const client = createTusClient(app.url)
    const { url } = await client.begin(length)
    using stalled = await openConnection(app.port, { staysOpen: true })
    stalled.write(brokenPatch(url, 'Hel'))
    expect((await stalled.answer()).status).to.equal(408)
    expect((await client.head(url)).offset).to.equal(3)
  })
})

/** The offset of the one upload there is, without a request that would end another one. */
async function stateOf({ files }: Awaited<ReturnType<typeof runApp>>): Promise<number | undefined> {
  for await (const [upload] of files.resumable?.list() ?? []) return upload?.offset
  return undefined
}
