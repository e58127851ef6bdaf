import { credentials, runHoldfast, useHoldfast, scrape } from '@holdfast/testing'
import { expect } from 'chai'

/** Has each request come on a connection of its own, which either worker may accept. */
const headers = { ...credentials, connection: 'close', 'Tus-Resumable': '1.0.0' }
const piece = { 'Content-Type': 'application/offset+octet-stream' }

describe('holdfast serve --workers, with uploads in pieces', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  const { site } = holdfast

  it('counts what has arrived, whichever worker has it, in the quota, in usage and in the metrics', async () => {
    await site.write(
      'customers.yaml',
      'customers:\n  - { name: demo, password: correct horse, quota: 10kB }\n',
    )
    const serving = await holdfast.start(['--workers', '2', '--admin-port', '0'])
    const send = (method: string, path: string, more: Readonly<Record<string, string>>, size = 0) =>
      fetch(new URL(path, serving.url), {
        method,
        headers: { ...headers, ...more },
        ...(size > 0 && { body: Buffer.alloc(size) }),
      })
    const put = async (size: number) => (await send('PUT', '/upload/b', {}, size)).status
    const metadata = `filename ${Buffer.from('a').toString('base64')}`
    const begun = await send('POST', '/resumable', {
      'Upload-Length': '9000',
      'Upload-Metadata': metadata,
    })
    expect(begun.status).to.equal(201)
    const path = begun.headers.get('location') ?? ''
    const append = async (offset: number) =>
      (await send('PATCH', path, { ...piece, 'Upload-Offset': `${offset}` }, 1_500)).status
    for (let offset = 0; offset < 7_500; offset += 1_500) {
      expect(await append(offset)).to.equal(204)
      expect(await put(10_000 - offset - 1_499), `more than fits at ${offset}`).to.equal(413)
    }
    const { stdout } = await runHoldfast(['usage', 'demo', '--json'], { cwd: site.path })
    const unfinished = { unfinishedUploads: 1, unfinishedBytes: 7_500 }
    expect(JSON.parse(stdout)).to.include({ files: 0, share: 0.75, ...unfinished })
    expect(await put(2_500)).to.equal(200)
    expect(await append(7_500), 'beside a file').to.equal(413)
    expect((await send('DELETE', '/delete/b', {})).status).to.equal(200)
    expect(await append(7_500)).to.equal(204)
    expect(await put(1_001)).to.equal(413)
    expect(await put(1_000)).to.equal(200)
    const counts = new Map<string | undefined, number>()
    for (const { labels, value } of (await scrape(serving)).samples(
      'holdfast_uploads_in_pieces_total',
    )) {
      counts.set(labels['event'], (counts.get(labels['event']) ?? 0) + value)
    }
    expect(Object.fromEntries(counts)).to.include({ begun: 1, continued: 5, published: 1 })
  })

  it('lets a customer begin so many uploads, whichever worker is asked', async () => {
    const limit = ['--workers', '2', '--max-unfinished-uploads', '3']
    const serving = await holdfast.start(limit)
    const send = (method: string, path: string, more: Readonly<Record<string, string>> = {}) =>
      fetch(new URL(path, serving.url), { method, headers: { ...headers, ...more } })
    const begin = () =>
      send('POST', '/resumable', {
        'Upload-Length': '5',
        'Upload-Metadata': `filename ${btoa('a')}`,
      })
    const begun = [await begin(), await begin(), await begin()]
    expect(begun.map(({ status }) => status)).to.deep.equal([201, 201, 201])
    for (let time = 0; time < 4; time++) expect((await begin()).status).to.equal(413)
    const path = begun[0]?.headers.get('location') ?? ''
    expect((await send('DELETE', path)).status).to.equal(204)
    expect((await begin()).status).to.equal(201)
    expect((await begin()).status).to.equal(413)
  })
})
