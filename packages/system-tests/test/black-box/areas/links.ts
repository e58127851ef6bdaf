import { expect } from 'chai'
import { expectError, expectOk, toAnswer, type Answer } from '../support/answer.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

interface Made {
  /** The path and query of the link. */
  readonly target: string
  readonly url: string
  readonly expires: string
}

/** WebKit shows no PDF under `sandbox`. */
const pdfPolicy = "script-src 'none'; base-uri 'none'; form-action 'none'"
const refusal = 'The link is wrong, or has expired'

async function makeLink(service: RunningService, name: string, wishes = {}): Promise<Made> {
  const body = JSON.stringify(wishes)
  const answer = await service.anna.send('POST', `/link/${encodeURIComponent(name)}`, { body })
  expect(answer.bytes.toString()).to.include('"url"')
  expect(answer.status).to.equal(200)
  expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8')
  expect(answer.headers.get('cache-control')).to.equal('no-store')
  const { url, expires } = JSON.parse(answer.bytes.toString()) as Record<'url' | 'expires', string>
  return { url, expires, target: url.slice(new URL(url).origin.length) }
}

/** Sends a request without credentials. */
async function visit(
  { url }: RunningService,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Answer> {
  return toAnswer(await fetch(`${url}${target}`, { method, headers }))
}

export function links(start: StartService): void {
  describe('POST /link/:filename', () => {
    it('answers with a URL that anyone may GET, HEAD and range, for an hour', async () => {
      await using service = await start()
      expectOk(await service.anna.put('notes 1.txt', 'Hello, holdfast'))
      const { url, expires, target } = await makeLink(service, 'notes 1.txt')
      expect(url.startsWith(`${service.url}/serve/notes%201.txt?link=`)).to.equal(true)
      const left = Date.parse(expires) - Date.now()
      expect(left).to.be.within(3_500_000, 3_601_000)
      const whole = await visit(service, target)
      expect(whole.bytes.toString()).to.equal('Hello, holdfast')
      const own = await service.anna.serve('notes 1.txt')
      for (const same of [
        'etag',
        'content-type',
        'content-disposition',
        'content-security-policy',
      ]) {
        expect(whole.headers.get(same), same).to.equal(own.headers.get(same))
      }
      expect(whole.headers.get('x-content-type-options')).to.equal('nosniff')
      expect(whole.headers.get('referrer-policy')).to.equal('no-referrer')
      expect(whole.headers.get('cache-control')).to.equal('private, no-cache')
      const head = await visit(service, target, {}, 'HEAD')
      expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '15'])
      const part = await visit(service, target, { range: 'bytes=7-' })
      expect([part.status, part.bytes.toString()]).to.deep.equal([206, 'holdfast'])
      const etag = whole.headers.get('etag') ?? ''
      expect((await visit(service, target, { 'if-none-match': etag })).status).to.equal(304)
    })

    it('opens the file for GET and HEAD of that one name, and for nothing else', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'a'))
      expectOk(await service.anna.put('b', 'b'))
      const { target } = await makeLink(service, 'a')
      const query = target.slice(target.indexOf('?'))
      expectError(await visit(service, `/serve/b${query}`), 403, refusal)
      for (const [method, path] of [
        ['GET', '/list'],
        ['GET', '/usage'],
        ['DELETE', '/delete/a'],
        ['POST', '/link/a'],
      ] as const) {
        expectError(await visit(service, `${path}${query}`, {}, method), 400, 'No auth headers')
      }
      expectError(await visit(service, `/upload/a${query}`, {}, 'PUT'), 403, refusal)
      expect(await service.anna.text('a')).to.equal('a')
    })

    it('is refused in one way whatever is wrong with the link', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({
        customers: [anna, bert],
        brake: { failuresPerAddress: 99 },
      })
      expectOk(await service.anna.put('a', 'a'))
      const { target } = await makeLink(service, 'a')
      const answers = await Promise.all(
        [
          target.replace('.anna.', '.bert.'),
          target.replace('.anna.', '.no-one.'),
          target.replace(/.$/u, (last) => (last === '0' ? '1' : '0')),
          target.slice(0, -1),
          `${target}&link=`,
          '/serve/a?link=',
          '/serve/a?link=%FF',
          '/serve/%FF?link=x',
        ].map((wrong) => visit(service, wrong)),
      )
      for (const answer of answers) {
        expectError(answer, 403, refusal)
        expect([...answer.headers.keys()]).to.deep.equal([...(answers[0]?.headers.keys() ?? [])])
      }
    })

    it('counts alone, whatever credentials come with it', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      expectOk(await service.anna.put('a', 'of anna'))
      expectOk(await service.as(bert).put('a', 'of bert'))
      const { target } = await makeLink(service, 'a')
      const answer = await service.as(bert).send('GET', target)
      expect(answer.bytes.toString()).to.equal('of anna')
      expectError(await service.as(bert).send('GET', '/serve/a?link=x'), 403, refusal)
    })

    it('opens what the name has now, and nothing once that is deleted', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'earlier'))
      const { target } = await makeLink(service, 'a')
      expectOk(await service.anna.put('a', 'later'))
      expect((await visit(service, target)).bytes.toString()).to.equal('later')
      expectOk(await service.anna.remove('a'))
      expectError(await visit(service, target), 400, 'File not found')
    })

    it('expires', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'a'))
      const { target, expires } = await makeLink(service, 'a', { expiresIn: 1 })
      await new Promise((resolve) => setTimeout(resolve, Date.parse(expires) - Date.now() + 5))
      expectError(await visit(service, target), 403, refusal)
    })

    it('lets browsers show what runs nothing, if its maker wants that, and save the rest', async () => {
      await using service = await start()
      const shown = ['p.png', 'p.jpg', 's.mp3', 'v.mp4', 't.txt', 'd.pdf', 'ü.webp']
      const saved = ['x.html', 'x.svg', 'x.xml', 'x.js', 'x.css', 'x', 'x.xhtml', 'x.md']
      for (const name of [...shown, ...saved]) {
        expectOk(await service.anna.put(name, '<script>alert(1)</script>'))
        const { target } = await makeLink(service, name, { inline: true })
        const { headers } = await visit(service, target)
        const kind = shown.includes(name) ? 'inline' : 'attachment'
        expect(headers.get('content-disposition')?.split(';')[0], name).to.equal(kind)
        const policy = name === 'd.pdf' ? pdfPolicy : 'sandbox'
        expect(headers.get('content-security-policy')).to.equal(policy)
        expect(headers.get('x-content-type-options')).to.equal('nosniff')
      }
      const { target } = await makeLink(service, 'p.png')
      const { headers } = await visit(service, target)
      expect(headers.get('content-disposition')).to.equal('attachment; filename="p.png"')
    })

    it('refuses what cannot be a link, in words that name the mistake', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'a'))
      const send = (body: string, name = 'a') =>
        service.anna.send('POST', `/link/${name}`, { body })
      const wrongTime = 'Invalid expiresIn: it must be a whole number of seconds from 1 to 604800'
      for (const expiresIn of ['0', '-1', '604801', '1.5', '"60"', 'null', '1e99']) {
        expectError(await send(`{"expiresIn":${expiresIn}}`), 400, wrongTime)
      }
      expectError(await send('{"inline":1}'), 400, 'Invalid inline: it must be true or false')
      const wrongBody = 'Invalid body: it must be JSON such as {"expiresIn":3600,"inline":true}'
      for (const body of ['x', '[]', '1', 'null', '{"expires":60}', '{"a":1', '\ufeff{}']) {
        expectError(await send(body), 400, wrongBody)
      }
      expectError(await send(' '.repeat(4097)), 400, 'Invalid body: it is longer than 4096 bytes')
      expectError(await send('', 'missing'), 400, 'File not found')
      expectError(await send('', 'a%2Fb'), 400, 'Invalid filename: it contains a slash')
      expectError(await send('', ''), 404, 'Not Found')
      expectError(await send('', 'a/b'), 404, 'Not Found: the name of a file has no /')
      expectError(await visit(service, '/link/a', {}, 'POST'), 400, 'No auth headers')
      const allow = 'Method not allowed. Use POST, OPTIONS'
      expectError(await service.anna.send('GET', '/link/a'), 405, allow)
    })

    it('stands in the log as used by a link, without the link', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'a'))
      const { target } = await makeLink(service, 'a')
      await visit(service, target)
      await visit(service, `${target}0`)
      const lines = service.log.map(({ fields }) => fields)
      const [, , used, refused] = lines
      expect(used).to.include({ path: '/serve/a', status: 200, customer: 'anna', link: true })
      expect(refused).to.include({ path: '/serve/a', status: 403, reason: refusal })
      expect(refused?.customer).to.equal(undefined)
      const signature = target.slice(-64)
      expect(JSON.stringify(service.log)).to.not.include(signature)
    })

    it('has wrong links of an address counted, apart from its logins', async () => {
      await using service = await start({ brake: { failuresPerAddress: 3 } })
      expectOk(await service.anna.put('a', 'a'))
      const { target } = await makeLink(service, 'a')
      for (let n = 0; n < 3; n++) {
        expectError(await visit(service, '/serve/a?link=wrong'), 403, refusal)
      }
      const braked = await visit(service, target)
      expectError(braked, 429, 'Too many failed logins')
      expect(Number(braked.headers.get('retry-after'))).to.be.within(1, 60)
      expect(await service.anna.text('a')).to.equal('a')
    })
  })
}
