import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { openPage } from '../src/index.ts'

const built = join(import.meta.dirname, '../dist/page')
const pages = ['', 'upload']
const kilobytes = (bytes: number) => bytes / 1024

describe('openPage', () => {
  for (const [what, key, folder] of [
    ['page', '', '\\.'],
    ['page for those who have a link to upload', 'upload', '\\.\\.'],
  ] as const) {
    it(`has the ${what}, and what it loads`, async () => {
      const page = await openPage(built)
      const html = Buffer.from(page.get(key)!.contents.identity).toString()
      const loaded = [...html.matchAll(new RegExp(`(?:src|href)="${folder}/([^"]+)"`, 'g'))].map(
        ([, path]) => path,
      )
      expect(loaded).to.have.length.above(2)
      for (const path of loaded) expect(page.has(path!), path).to.equal(true)
    })
  }

  it('has every file in three encodings', async () => {
    for (const [path, { contents }] of await openPage(built)) {
      expect(gunzipSync(contents.gzip).equals(contents.identity), path).to.equal(true)
      expect(brotliDecompressSync(contents.br).equals(contents.identity), path).to.equal(true)
    }
  })

  it('gives each encoding a tag of its own', async () => {
    const tags = [...(await openPage(built)).values()].flatMap(({ etags }) => Object.values(etags))
    expect(new Set(tags).size).to.equal(tags.length)
    for (const tag of tags) expect(tag).to.match(/^"[\w.-]+"$/)
  })

  it('has browsers keep what has its content in its name, and ask again for the page', async () => {
    for (const [path, { headers }] of await openPage(built)) {
      const expected = pages.includes(path) ? 'no-cache' : 'public, max-age=31536000, immutable'
      expect(headers['Cache-Control']).to.equal(expected)
      if (!pages.includes(path)) expect(path).to.match(/^assets\/[\w-]+-[\w-]{8}\.(js|css|svg)$/)
    }
  })

  it('allows scripts and styles of this server only, and none in strings', async () => {
    for (const { headers } of (await openPage(built)).values()) {
      const policy = headers['Content-Security-Policy']!.split('; ')
      expect(policy).to.include.members([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ])
      expect(headers['Content-Security-Policy']).not.to.match(/unsafe|\*|https?:|data:/)
      expect(headers).to.include({
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Opener-Policy': 'same-origin',
      })
    }
  })

  it('has no script, style or handler in a page itself, and nothing of other servers', async () => {
    const page = await openPage(built)
    for (const key of pages) {
      const html = Buffer.from(page.get(key)!.contents.identity).toString()
      expect(html).not.to.match(/<style|style=|\son\w+=|https?:|<script(?![^>]*\ssrc=)/)
    }
  })

  it('is smaller than 90 KB with what it loads at the first view, as browsers get it', async () => {
    const page = await openPage(built)
    // Languages other than English, and what compares an earlier upload, are loaded when they are needed.
    const isLate = (path: string) => /^assets\/(de|fr|es|sha2)-/.test(path)
    expect([...page.keys()].filter(isLate)).to.have.length(4)
    const files = [...page].filter(([path]) => !isLate(path)).map(([, file]) => file)
    const size = (encoding: 'gzip' | 'br') =>
      kilobytes(files.reduce((sum, { contents }) => sum + contents[encoding].length, 0))
    expect(size('gzip')).to.be.below(90)
    expect(size('br')).to.be.below(size('gzip'))
  })
})
