import { createHash } from 'node:crypto'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { runApp } from '../../support/running-app.ts'
import { base64, createTusClient, named } from '../../support/tus-client.ts'

const length = { 'Upload-Length': '5' }

describe('POST /resumable, with the whole file,', () => {
  it('stores it as a PUT would, and knows it afterwards', async () => {
    const store = createMemoryBlobStore()
    const { resumable } = store
    if (!resumable) throw new Error('The memory store keeps uploads in pieces')
    const refuse = () => Promise.reject(new Error('not to be called'))
    const only = { ...resumable, begin: refuse, append: refuse, publish: refuse }
    await using app = await runApp({ store: { ...store, resumable: only } })
    const client = createTusClient(app.url)
    const begun = await client.begin({ ...length, 'If-None-Match': '*' }, 'Hello')
    expect(begun).to.include({ status: 201, offset: 5 })
    const found = await client.head(begun.url)
    expect(found).to.include({ status: 200, offset: 5 })
    expect(found.headers.get('upload-length')).to.equal('5')
    expect(found.headers.get('upload-metadata')).to.equal(named('a.txt')['Upload-Metadata'])
    expect((await client.send('DELETE', begun.url)).status).to.equal(204)
    expect((await client.head(begun.url)).status).to.equal(404)
    expect((await client.begin({ 'Upload-Length': '0' })).status).to.equal(201)
  })

  it('judges the checksum of the body before the digest of the file, and none of no bytes', async () => {
    await using app = await runApp()
    const client = createTusClient(app.url)
    const other = createHash('sha256').update('Other').digest()
    const checksum = { 'Upload-Checksum': `sha256 ${other.toString('base64')}` }
    const metadata = `filename ${base64('a.txt')},sha256 ${base64(other.toString('hex'))}`
    const both = { ...length, ...checksum, 'Upload-Metadata': metadata }
    expect((await client.begin(both, 'Hello')).status).to.equal(460)
    const ofFile = { ...length, 'Upload-Metadata': metadata }
    expect((await client.begin(ofFile, 'Hello')).status).to.equal(400)
    expect(await app.names()).to.deep.equal([])
    expect((await client.begin({ 'Upload-Length': '0', ...checksum })).status).to.equal(201)
    expect(await app.names()).to.deep.equal(['a.txt'])
  })
})
