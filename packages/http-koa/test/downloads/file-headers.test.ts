import { expect } from 'chai'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { auth, runApp } from '../support/running-app.ts'

const day = 24 * 60 * 60 * 1000

/** A store whose files were stored while the clock was a day ahead. */
function storeFromTomorrow() {
  const store = createMemoryBlobStore()
  const ahead = <T extends { readonly modifiedAt: Date }>(info: T): T => ({
    ...info,
    modifiedAt: new Date(info.modifiedAt.getTime() + day),
  })
  const open: typeof store.open = async (...args) => {
    const blob = await store.open(...args)
    return blob && { ...blob, info: ahead(blob.info) }
  }
  const stat: typeof store.stat = async (key) => {
    const info = await store.stat(key)
    return info && ahead(info)
  }
  return { ...store, open, stat }
}

describe('Last-Modified', () => {
  it('is never later than Date, and the conditions hold to the time that the store knows', async () => {
    await using app = await runApp({ store: storeFromTomorrow() })
    await fetch(`${app.url}/upload/a`, { method: 'PUT', headers: auth, body: 'content' })
    const ask = async (headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
      const answer = await fetch(`${app.url}/serve/a`, { method, headers: { ...auth, ...headers } })
      await answer.arrayBuffer()
      return answer
    }
    for (const answer of [
      await ask(),
      await ask({}, 'HEAD'),
      await ask({ Range: 'bytes=0-1' }),
      await ask({ 'If-Modified-Since': new Date(Date.now() + 2 * day).toUTCString() }),
    ]) {
      const [date = 0, modified = 0] = ['date', 'last-modified'].map((name) =>
        Date.parse(answer.headers.get(name) ?? ''),
      )
      expect(modified).to.be.closeTo(Date.now(), 60_000)
      // Node makes a new Date once a second, and may be late.
      expect(modified - date, `${answer.status}`).to.be.at.most(1000)
    }
    // What may have been replaced within that second is not taken for the same.
    const sent = (await ask()).headers.get('last-modified') ?? ''
    expect((await ask({ 'If-Modified-Since': sent })).status).to.equal(200)
    expect((await ask({ 'If-Unmodified-Since': sent })).status).to.equal(412)
    expect((await ask({ Range: 'bytes=0-1', 'If-Range': sent })).status).to.equal(200)
  })
})
