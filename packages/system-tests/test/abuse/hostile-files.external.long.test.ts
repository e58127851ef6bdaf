import { get, type IncomingMessage } from 'node:http'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { browse } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { startBrowserHouse, type BrowserHouse } from './browser-house.ts'

/** Asks for `/ran/NAME` of the origin that it runs in, or that it came from. */
const script = (name: string) => `new Image().src='/ran/${name}'`
const xml = '<?xml version="1.0"?>'
const xhtml = 'xmlns="http://www.w3.org/1999/xhtml"'

/** Files that a browser would run, with the document that it would show. */
const documents = {
  'page.html': `<p>shown</p><script>${script('page.html')}</script>`,
  'page.htm': `<img src=x onerror="${script('page.htm')}">`,
  'page.xhtml': `${xml}<html ${xhtml}><script>${script('page.xhtml')}</script></html>`,
  'image.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="${script('image.svg')}"/>`,
  'data.xml': `${xml}<a><script ${xhtml}>${script('data.xml')}</script></a>`,
} as const

/** Files that are no scripts by their type, but would be run where another page takes them for one. */
const scripts = {
  'script.txt': script('script.txt'),
  script: script('script'),
} as const

/** Whatever else could be taken for more than data. */
const others = ['a.mhtml', 'a.mht', 'a.pdf', 'a.js', 'a.mjs', 'a.css', 'a.swf', 'a.hta', 'a.xsl']
const odd = ['a.shtml', 'a.html.', 'a.HTML', 'a.php', 'a.svgz', 'a.html ', '.html', 'html']

const names = [
  '"; filename=evil.exe',
  'a"b.txt',
  'a\\"b.txt',
  "a; filename*=UTF-8''evil.exe",
  '%0d%0aX-Evil: 1',
  'a\u2028X-Evil: 1',
  'a\u0085b',
  '\u202egpj.exe',
  'naïve.txt',
  'ÿþ',
  '你好.txt',
  '🗄️',
  ' ',
  "'",
]

/** The names of the header fields, each as often as it came. */
const namesIn = (rawHeaders: readonly string[]) =>
  rawHeaders.filter((_, index) => index % 2 === 0).toSorted()

describe('a file that would be more than data', function () {
  this.timeout(240_000)
  let site: Site
  let server: HoldfastServer
  let house: BrowserHouse
  let other: BrowserHouse

  before(async () => {
    site = await createSite()
    server = await startHoldfast([], { cwd: site.path })
    for (const [name, content] of Object.entries({ ...documents, ...scripts })) {
      await upload(name, content)
    }
    for (const name of [...others, ...odd, ...names]) await upload(name, '<script>1</script>')
  })
  after(async () => {
    await server.kill()
    await site.remove()
  })

  async function upload(name: string, body: string) {
    const init = { method: 'PUT', headers: credentials, body }
    const { status } = await fetch(`${server.url}/upload/${encodeURIComponent(name)}`, init)
    expect(status, name).to.equal(200)
  }

  const serve = (name: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const url = `${server.url}/serve/${encodeURIComponent(name)}`
      get(url, { headers: credentials, agent: false }, (answer) => {
        answer.resume()
        resolve(answer)
      }).on('error', reject)
    })

  for (const name of [...Object.keys(documents), ...Object.keys(scripts), ...others, ...odd]) {
    it(`is an attachment, sandboxed and of one type: ${name}`, async () => {
      const { headers } = await serve(name)
      expect(headers['content-disposition']).to.match(/^attachment; filename=/)
      expect(headers['content-security-policy']).to.equal('sandbox')
      expect(headers['x-content-type-options']).to.equal('nosniff')
      expect(headers['cross-origin-resource-policy']).to.equal('same-origin')
      expect(Object.keys(headers).filter((each) => each.startsWith('access-control'))).to.be.empty
    })
  }

  for (const name of names) {
    it(`adds nothing to the headers by its name: ${JSON.stringify(name)}`, async () => {
      const plain = await serve('a.pdf')
      const { rawHeaders } = await serve(name)
      expect(namesIn(rawHeaders)).to.deep.equal(namesIn(plain.rawHeaders))
      const value = rawHeaders[rawHeaders.indexOf('Content-Disposition') + 1] ?? ''
      expect(value).to.match(
        /^attachment; filename=(?:[\w.]+|"(?:[ !#-[\]-~]|\\["\\])*")(?:; filename\*=UTF-8''[\w!#$&+.^`|~%-]+)?$/,
      )
    })
  }

  it('cannot have a name with an end of line', async () => {
    for (const name of ['a%0D%0AX-Evil:%201', 'a%0Ab', 'a%0Db', '%00']) {
      const init = { method: 'PUT', headers: credentials, body: 'x' }
      expect((await fetch(`${server.url}/upload/${name}`, init)).status).to.equal(400)
    }
  })

  describe('in a browser', () => {
    const frames = (base: string) =>
      Object.keys(documents).flatMap((name) => [
        `<iframe src="${base}/serve/${name}"></iframe>`,
        `<object data="${base}/serve/${name}"></object>`,
      ])
    const sources = (base: string) =>
      Object.keys(scripts).map((name) => `<script src="${base}/serve/${name}"></script>`)
    const reading = (base: string) =>
      `<script>fetch('${base}/serve/script.txt').then((answer) => answer.text())
        .then((text) => text && (new Image().src = '/ran/read'))</script>`
    const all = (base: string) => [...frames(base), ...sources(base)].join('')
    const everything = [...Object.keys(documents), ...Object.keys(scripts)]

    before(async () => {
      house = await startBrowserHouse(server.url, {
        '/page': all(''),
        '/naive-page': all('/naive'),
      })
      other = await startBrowserHouse(server.url, {
        '/page': sources(house.url).join('') + reading(house.url),
        '/naive-page': sources(`${house.url}/naive`).join('') + reading(`${house.url}/naive`),
      })
    })
    after(async () => {
      await house.stop()
      await other.stop()
    })

    it('runs where it is served without protection, so these tests can detect it', async () => {
      await browse(`${house.url}/naive-page`)
      expect([...house.ran]).to.have.members(everything)
      await browse(`${other.url}/naive-page`)
      expect([...other.ran]).to.have.members([...Object.keys(scripts), 'read'])
      expect(await browse(`${house.url}/naive/serve/page.html`)).to.include('<p>shown</p>')
    })

    it('does not run in a page of the same origin, nor in one of another, which cannot read it', async () => {
      const [before, beforeOther] = [house.ran.size, other.ran.size]
      await browse(`${house.url}/page`)
      await browse(`${other.url}/page`)
      expect(house.ran.size).to.equal(before)
      expect(other.ran.size).to.equal(beforeOther)
    })

    it('is not shown where its address is opened', async () => {
      for (const name of Object.keys(documents)) {
        expect(await browse(`${house.url}/serve/${name}`), name).not.to.match(/shown|<svg|<a>/)
      }
    })
  })
})
