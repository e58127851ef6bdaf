import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { startExample, type RunningExample } from './run-example.ts'
import { breakOff, expectNoFiles, filesIn } from './uploads.ts'

const largest = 48 * 2 ** 20

describe('examples/express-multer', function () {
  this.timeout(120_000)
  let app: RunningExample
  before(async () => {
    app = await startExample('express-multer', { MAX_FILE_SIZE: `${largest}` })
  })
  after(async () => {
    expect(await app.stop()).to.equal(0)
  })

  const alice = { Authorization: 'Bearer wonderland' }
  const bob = { Authorization: 'Bearer builder' }
  const ask = (method: string, path: string, headers: Record<string, string>) =>
    fetch(`${app.url}${path}`, { method, headers })
  const report = async (
    title: string | undefined,
    files: readonly (readonly [name: string, content: string | Buffer<ArrayBuffer>])[],
    headers: Record<string, string> = alice,
  ) => {
    const body = new FormData()
    if (title !== undefined) body.append('title', title)
    for (const [name, content] of files) body.append('file', new Blob([content]), name)
    const response = await fetch(`${app.url}/reports`, { method: 'POST', headers, body })
    return [response.status, await response.json()] as const
  }

  it('keeps the files of a form, under names of any kind, for their user alone', async () => {
    const files = [
      ['Übersicht €.txt', 'one'],
      ['b.txt', 'three'],
    ] as const
    expect(await report('Of the year', files)).to.deep.equal([
      201,
      [
        { name: 'Übersicht €.txt', size: 3 },
        { name: 'b.txt', size: 5 },
      ],
    ])
    expect(await (await ask('GET', '/files', alice)).json()).to.deep.equal([
      'b.txt',
      'Übersicht €.txt',
    ])
    const path = `/files/${encodeURIComponent('Übersicht €.txt')}`
    const served = await ask('GET', path, alice)
    expect(served.headers.get('content-disposition')).to.contain("filename*=UTF-8''%C3%9Cbersicht")
    expect(await served.text()).to.equal('one')

    expect(await (await ask('GET', '/files', bob)).json()).to.deep.equal([])
    for (const method of ['GET', 'DELETE']) {
      const refused = await ask(method, path, bob)
      expect([refused.status, await refused.json()]).to.deep.equal([
        404,
        { message: 'File not found' },
      ])
    }
    expect((await ask('DELETE', path, alice)).status).to.equal(204)
    expect((await ask('DELETE', '/files/b.txt', alice)).status).to.equal(204)
    await expectNoFiles(app.data)
  })

  it('keeps nothing of a form that it does not like', async () => {
    const file = ['a.txt', 'content'] as const
    expect(await report(undefined, [file])).to.deep.equal([
      400,
      { message: 'A report has a title' },
    ])
    const six = Array.from({ length: 6 }, (_, n) => [`${n}`, 'content'] as const)
    expect((await report('Too many', six))[0]).to.equal(400)
    expect(await report('A path', [file, ['..', 'content']])).to.deep.equal([
      400,
      { message: 'Invalid filename: it is ".."' },
    ])
    const large = ['large', Buffer.alloc(largest + 1)] as const
    expect(await report('Large', [file, large])).to.deep.equal([413, { message: 'File too large' }])
    await expectNoFiles(app.data)
  })

  it('keeps the earlier file when the new one is refused', async () => {
    await report('First', [['a.txt', 'first']])
    await report('Second', [
      ['a.txt', 'second'],
      ['..', ''],
    ])
    expect(await (await ask('GET', '/files/a.txt', alice)).text()).to.equal('first')
    await ask('DELETE', '/files/a.txt', alice)
  })

  it('lets no one in whom it does not know', async () => {
    const headers = { Authorization: 'Bearer looking-glass' }
    expect(await report('Foreign', [['a.txt', 'content']], headers)).to.deep.equal([
      401,
      { message: 'Who are you?' },
    ])
    expect((await ask('GET', '/files', {})).status).to.equal(401)
    await expectNoFiles(app.data)
  })

  it('keeps nothing of a form that breaks off', async () => {
    const headers = { ...alice, 'Content-Type': 'multipart/form-data; boundary=b' }
    const part = (name: string) =>
      `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
    const beginning = `${part('whole')}whole\r\n${part('broken')}${'x'.repeat(2 ** 20)}`
    await breakOff(`${app.url}/reports`, app.data, { method: 'POST', headers, beginning })
    await expectNoFiles(app.data)
  })

  it('keeps a large file bit by bit', async () => {
    const content = randomBytes(32 * 2 ** 20)
    await report('Large', [['large', content]])
    expect(await filesIn(app.data)).to.deep.equal(['alice/large'])
    const served = Buffer.from(await (await ask('GET', '/files/large', alice)).arrayBuffer())
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(digest(served)).to.equal(digest(content))
    await ask('DELETE', '/files/large', alice)
  })
})
