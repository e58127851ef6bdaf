import { expect } from 'chai'
import type { Audit } from '../../src/guards/audit.ts'
import { collectAudit } from '../support/collected-audit.ts'
import { auth, runApp } from '../support/running-app.ts'

/** An application with a file `a` of ten bytes, and two links to it. */
async function run(instead?: Audit) {
  const { audit, events } = collectAudit()
  const app = await runApp({ audit: instead ?? audit, trustedProxies: ['127.0.0.1'] })
  await app.files.upload('a', new Blob(['0123456789']).stream())
  const make = async (expiresIn: number) => {
    const body = JSON.stringify({ expiresIn })
    const made = await fetch(`${app.url}/link/a`, { method: 'POST', headers: auth, body })
    return ((await made.json()) as { url: string }).url
  }
  const links = [await make(60), await make(120)] as const
  const get = async (
    link: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'GET',
  ) => {
    const answer = await fetch(link, { method, headers })
    return { status: answer.status, body: await answer.text() }
  }
  const lines = () =>
    events
      .filter(({ event }) => event === 'download')
      .map(({ address, outcome }) => [address, outcome].join())
  return Object.assign(app, { links, get, lines })
}

describe('The audit trail of downloads by a link', () => {
  it('has a line for the first part that an address gets, whatever its range', async () => {
    await using app = await run()
    const [link] = app.links
    expect(await app.get(link, { Range: 'bytes=1-' })).to.deep.equal({
      status: 206,
      body: '123456789',
    })
    expect(app.lines()).to.deep.equal(['127.0.0.1,ok'])
    await app.get(link, { Range: 'bytes=5-6' })
    await app.get(link, { Range: 'bytes=-3' })
    expect(app.lines()).to.have.lengthOf(1)
  })

  it('has no further line for parts after one from the first byte, and one for each of those', async () => {
    await using app = await run()
    const [link] = app.links
    for (const range of ['bytes=0-3', 'bytes=4-', 'bytes=0-']) await app.get(link, { Range: range })
    await app.get(link)
    expect(app.lines()).to.have.lengthOf(3)
  })

  it('has one for each address, each link, and each content', async () => {
    await using app = await run()
    const [link, other] = app.links
    const Range = 'bytes=1-'
    await app.get(link, { Range })
    await app.get(link, { Range, 'X-Forwarded-For': '203.0.113.9' })
    await app.get(other, { Range })
    await app.files.upload('a', new Blob(['another']).stream())
    await app.get(link, { Range })
    expect(app.lines()).to.deep.equal([
      '127.0.0.1,ok',
      '203.0.113.9,ok',
      '127.0.0.1,ok',
      '127.0.0.1,ok',
    ])
  })

  it('has a line for the next part where that of the first could not be written', async () => {
    let calls = 10
    const fail = () => (++calls === 2 ? Promise.reject(new Error('no paper')) : Promise.resolve())
    await using app = await run(fail)
    const [link] = app.links
    calls = 1
    const Range = 'bytes=1-'
    expect((await app.get(link, { Range })).status).to.equal(500)
    expect((await app.get(link, { Range })).status).to.equal(206)
    expect((await app.get(link, { Range })).status).to.equal(206)
    expect(calls).to.equal(3)
  })

  it('has none for what brings no content', async () => {
    await using app = await run()
    const [link] = app.links
    await app.get(link, {}, 'HEAD')
    await app.get(link, { Range: 'bytes=1-' }, 'HEAD')
    expect((await app.get(link, { Range: 'bytes=10-' })).status).to.equal(416)
    expect(app.lines()).to.deep.equal([])
  })
})
