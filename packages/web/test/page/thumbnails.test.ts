import { expect } from 'chai'
import type { ViewedFile } from '../../page/api/connection.ts'
import { createThumbnails } from '../../page/list/thumbnails.ts'
import { settled } from './fake-connection.ts'

const image = (name: string, about: Partial<ViewedFile> = {}): ViewedFile => ({
  ...{ name, size: 1, modified: '', type: 'image/png', etag: '"1"' },
  ...about,
})

/** Pictures that are made when the test says so. */
function harness(bounds = { concurrency: 2, kept: 2 }) {
  const made: { readonly name: string; readonly finish: (blob?: Blob) => void }[] = []
  const thumbnails = createThumbnails(
    async ({ name }) => new Promise((finish) => made.push({ name, finish })),
    bounds,
  )
  const of = (name: string) => {
    const ended = new AbortController()
    const url = thumbnails.of(image(name), ended.signal).catch(() => 'ended')
    return { url, end: () => ended.abort() }
  }
  return { thumbnails, of, made, names: () => made.map(({ name }) => name) }
}

describe('createThumbnails', () => {
  it('makes a few at a time, the last ones first, and none that is not in sight any more', async () => {
    const { of, made, names } = harness()
    const all = ['a', 'b', 'c', 'd', 'e'].map(of)
    await settled()
    expect(names()).to.deep.equal(['a', 'b'])
    all[4]?.end()
    made[0]?.finish(new Blob(['a']))
    await settled()
    expect(names()).to.deep.equal(['a', 'b', 'd'])
    expect(await all[4]?.url).to.equal('ended')
    expect(await all[0]?.url).to.match(/^blob:/)
    made[1]?.finish(undefined)
    await settled()
    expect(names()).to.deep.equal(['a', 'b', 'd', 'c'])
    expect(await all[1]?.url).to.equal(undefined)
  })

  it('keeps the ones that were used last, and makes none of them again', async () => {
    const { of, made, names } = harness()
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) {
      const { url } = of(name)
      await settled()
      made.at(-1)?.finish(new Blob([name]))
      await url
    }
    expect(names()).to.deep.equal(['a', 'b', 'c', 'b'])
  })

  it('goes on after one that failed', async () => {
    let times = 0
    const thumbnails = createThumbnails(
      async () => {
        times += 1
        throw new Error('no image')
      },
      { concurrency: 1, kept: 1 },
    )
    const { signal } = new AbortController()
    for (const name of ['a', 'b']) {
      const outcome = await thumbnails.of(image(name), signal).catch(String)
      expect(outcome).to.equal('Error: no image')
    }
    expect(times).to.equal(2)
  })

  it('is for images that are not large, and for nothing else', () => {
    const { thumbnails } = harness()
    expect(thumbnails.isFor(image('a'))).to.equal(true)
    expect(thumbnails.isFor(image('a', { size: 17 * 1024 * 1024 }))).to.equal(false)
    expect(thumbnails.isFor(image('a', { type: 'text/html' }))).to.equal(false)
  })
})
