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
      if (!pages.includes(path)) expect(path).to.match(/^assets\/[\w.-]+-[\w-]{8}\.(js|css|svg)$/)
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

  for (const key of pages) {
    it(`is smaller than 90 KB ${key === '' ? 'at first' : 'for strangers'}, as browsers get it`, async () => {
      const page = await openPage(built)
      const first = firstView(page, key)
      const size = (encoding: 'gzip' | 'br') =>
        kilobytes(
          first.reduce((sum, path) => sum + (page.get(path)?.contents[encoding].length ?? 0), 0),
        )
      expect(first).to.have.length.above(3)
      expect(size('gzip')).to.be.above(40).and.below(90)
      expect(size('br')).to.be.below(size('gzip'))
    })
  }

  it('loads Markdown, tables, and languages other than English when they are needed, and not before', async () => {
    const page = await openPage(built)
    const first = pages.flatMap((key) => firstView(page, key))
    for (const name of ['markdown', 'table', 'sha2', 'de', 'es', 'fr']) {
      const found = [...page.keys()].find((path) => path.startsWith(`assets/${name}-`))
      expect(found, name).not.to.equal(undefined)
      expect(first).not.to.include(found)
    }
  })
})

/** What a browser loads to show a page: itself, what it names, and what that imports at once. */
function firstView(page: Awaited<ReturnType<typeof openPage>>, key: string): readonly string[] {
  const textOf = (path: string) => Buffer.from(page.get(path)!.contents.identity).toString()
  const found = new Set([key])
  for (const path of found) {
    const named = path.endsWith('.js')
      ? textOf(path).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+)["']/g)
      : textOf(path).matchAll(/(?:src|href)="(?:\.\.?\/)+assets\/([^"]+)"/g)
    for (const [, name] of named) found.add(`assets/${name}`)
  }
  return [...found]
}
