import { createHash } from 'node:crypto'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { createRequestCounters } from '../../../src/guards/enter.ts'
import { request } from '../../support/request.ts'
import { auth, runApp, type RunOptions } from '../../support/running-app.ts'
import { base64, createTusClient } from '../../support/tus-client.ts'

const sha256 = createHash('sha256').update('Hello').digest('hex')

/** An application whose store counts how often an upload is read back, each time after `gate`. */
async function run(options: RunOptions = {}) {
  const store = createMemoryBlobStore()
  const { resumable } = store
  if (!resumable) throw new Error('The memory store keeps uploads in pieces')
  const counted = { reads: 0, failures: 0, gate: Promise.resolve<undefined>(undefined) }
  const app = await runApp({
    ...options,
    store: {
      ...store,
      resumable: {
        ...resumable,
        async *content(key) {
          counted.reads++
          await counted.gate
          yield* resumable.content(key)
        },
        async publish(key) {
          if (counted.failures-- > 0) throw new Error('the store fails')
          return resumable.publish(key)
        },
      },
    },
  })
  return Object.assign(app, { counted, client: createTusClient(app.url) })
}

const whole = {
  'Upload-Length': '5',
  'Upload-Metadata': `filename ${base64('a.txt')},sha256 ${base64(sha256)}`,
}

describe('HEAD /resumable/:id of an upload that cannot be published', () => {
  it('does not read it where it only creates and the name is taken', async () => {
    await using app = await run()
    const { client, counted } = app
    const { url } = await client.begin({ ...whole, 'If-None-Match': '*' })
    await app.files.upload('a.txt', 'other')
    expect((await client.append(url, 0, 'Hello')).status).to.equal(412)
    for (let n = 0; n < 5; n++) expect((await client.head(url)).status).to.equal(412)
    expect(counted.reads).to.equal(0)
  })

  it('reads it once, for however many requests', async () => {
    await using app = await run()
    const { client, counted } = app
    counted.failures = 21
    const { url } = await client.begin(whole)
    expect((await client.append(url, 0, 'Hello')).status).to.equal(500)
    const heads = await Promise.all(Array.from({ length: 20 }, () => client.head(url)))
    expect(new Set(heads.map((head) => head.status))).to.deep.equal(new Set([500]))
    expect(await client.head(url)).to.include({ status: 200, offset: 5 })
    expect(counted.reads).to.equal(1)
  })

  it('gives its slot back when its client leaves while another request reads the upload', async () => {
    const requestCounters = createRequestCounters()
    await using app = await run({ requestCounters })
    const { client, counted } = app
    const gate = Promise.withResolvers<undefined>()
    counted.gate = gate.promise
    const { url } = await client.begin(whole)
    const appending = client.append(url, 0, 'Hello')
    await until('the upload is read', () => counted.reads === 1)
    for (let n = 0; n < 3; n++) {
      using connection = await openConnection(app.port)
      const head = { ...auth, 'Tus-Resumable': '1.0.0' }
      connection.write(request('HEAD', new URL(url).pathname, head))
      await until('it has a slot', () => requestCounters.perCustomer.count('demo') === 2)
      connection.reset()
      await until('it has none', () => requestCounters.perCustomer.count('demo') === 1)
    }
    gate.resolve(undefined)
    expect((await appending).status).to.equal(204)
    expect(counted.reads).to.equal(1)
  })
})
