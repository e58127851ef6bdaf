import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk, toAnswer, type Answer } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { makeUploadLink as makeLink } from '../support/make-upload-link.ts'
import { anna, type StartService } from '../support/running-service.ts'

const refusal = 'The link is wrong, or has expired'
const full = "Quota exceeded: the link's limit is 3 file(s)"
const incomplete = 'Invalid filename: the link is for longer names that begin with this one'

/** A link to a prefix with another name in it. */
const named = (url: string, name: string) =>
  url.replace(/[^/]*(?=\?)/u, () => encodeURIComponent(name))

/** Uploads without credentials. */
async function put(url: string, body: string, headers = {}): Promise<Answer> {
  return toAnswer(await fetch(url, { method: 'PUT', body, headers }))
}

/** Uploads a form, as a browser does. */
async function post(url: string, filename: string, content: string): Promise<Answer> {
  const body = new FormData()
  body.append('file', new File([content], filename))
  return toAnswer(await fetch(url, { method: 'POST', body }))
}

export function uploadLinks(start: StartService): void {
  describe('POST /link/:filename with the verb upload', () => {
    it('answers with a URL to which anyone may upload the one file, once', async () => {
      await using service = await start()
      const url = await makeLink(service, 'for anna.txt')
      const stored = await put(url, 'from a stranger')
      expectOk(stored)
      expect(stored.headers.get('etag')).to.match(/^"/u)
      expect(await service.anna.text('for anna.txt')).to.equal('from a stranger')
      expectError(await put(url, 'again'), 412, 'Precondition Failed')
      expectError(await post(url, 'x', 'again'), 412, 'Precondition Failed')
      expect(await service.anna.text('for anna.txt')).to.equal('from a stranger')
      await expectNoLitter(service)
    })

    it('works with curl -T, and as the action of a form', async () => {
      await using service = await start()
      const status = ['-o', '/dev/null', '-w', '%{http_code}']
      const send = async (...args: string[]) =>
        (await curl([...status, ...args], { input: 'content' })).stdout.toString()
      expect(await send('-T', '-', await makeLink(service, 'raw'))).to.equal('200')
      const form = ['-F', 'file=@-;filename=whatever they call it.txt']
      expect(await send(...form, await makeLink(service, 'form'))).to.equal('200')
      for (const name of ['raw', 'form']) {
        expect(await service.anna.text(name)).to.equal('content')
      }
    })

    it('lets one of many uploads at once win', async () => {
      await using service = await start()
      const url = await makeLink(service, 'one')
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          n % 2 === 0 ? put(url, `content ${n}`) : post(url, 'x', `content ${n}`),
        ),
      )
      const winners = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []))
      expect(winners).to.have.length(1)
      expect(await service.anna.text('one')).to.equal(`content ${winners[0]}`)
      const losers = answers.filter(({ status }) => status !== 200)
      for (const answer of losers) {
        if (answer.status === 503) expectError(answer, 503, 'Overloaded')
        else expectError(answer, 412, 'Precondition Failed')
      }
      await expectNoLitter(service)
    })

    it('allows no one to read, list, replace or delete', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'of anna'))
      const links = [
        await makeLink(service, 'a', { prefix: true }),
        await makeLink(service, 'a', { replace: true }),
      ]
      for (const url of links) {
        const query = url.slice(url.indexOf('?'))
        const visit = async (method: string, path: string) =>
          toAnswer(await fetch(`${service.url}${path}${query}`, { method }))
        expectError(await visit('GET', '/serve/a'), 403, refusal)
        expectError(await visit('PUT', '/upload/b'), 403, refusal)
        expectError(await visit('POST', '/upload/batch'), 403, refusal)
        expectError(
          await visit('GET', '/upload/a'),
          405,
          'Method not allowed. Use PUT, POST, OPTIONS',
        )
        for (const [method, path] of [
          ['GET', '/list'],
          ['GET', '/usage'],
          ['DELETE', '/delete/a'],
          ['POST', '/upload'],
          ['POST', '/link/a'],
          ['PUT', '/upload/'],
        ] as const) {
          expectError(await visit(method, path), 400, 'No auth headers')
        }
      }
      const [byPrefix = ''] = links
      const all = named(byPrefix, 'ab')
      expectOk(await put(all, 'new'))
      expectError(await put(all, 'newer'), 412, 'Precondition Failed')
      expectError(await put(byPrefix, 'x'), 400, incomplete)
      expect(await service.anna.text('a')).to.equal('of anna')
    })

    it('may replace the file, if its maker wants that', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'of anna'))
      const url = await makeLink(service, 'a', { replace: true })
      expectOk(await put(url, 'first'))
      expectOk(await post(url, 'x', 'second'))
      expectError(await put(url, 'x', { 'if-none-match': '*' }), 412, 'Precondition Failed')
      expect(await service.anna.text('a')).to.equal('second')
    })

    it('takes files whose names begin with a prefix, as many as its maker says', async () => {
      await using service = await start()
      const url = await makeLink(service, 'in-', { prefix: true, maxFiles: 3 })
      expectOk(await put(named(url, 'in-1 ü'), 'x'))
      expectOk(await post(url, '/some/where/photo.jpg', 'x'))
      expectOk(await post(named(url, 'in-bob-'), '..', 'x'))
      expect(await service.anna.names()).to.deep.equal(['in-1 ü', 'in-bob-..', 'in-photo.jpg'])
      expectError(await put(named(url, 'in-4'), 'x'), 413, full)
      expectError(await post(url, '4', 'x'), 413, full)
      expectOk(await service.anna.remove('in-photo.jpg'))
      expectOk(await put(named(url, 'in-4'), 'x'))
      for (const name of ['in', 'IN-5', 'other']) {
        expectError(await put(named(url, name), 'x'), 403, refusal)
      }
      expectError(await put(url, 'x'), 400, incomplete)
      const long = named(url, `in-${'x'.repeat(253)}`)
      expectError(await put(long, 'x'), 400, 'Invalid filename: it is longer than 255 bytes')
      expectError(await put(named(url, 'in-/'), 'x'), 400, 'Invalid filename: it contains a slash')
      await expectNoLitter(service)
    })

    it('never takes more than so many of however many uploads at once', async () => {
      await using service = await start()
      const url = await makeLink(service, 'in-', { prefix: true, maxFiles: 3 })
      const answers = await Promise.all(
        Array.from({ length: 15 }, (_, n) =>
          n % 2 === 0 ? put(named(url, `in-${n}`), `${n}`) : post(url, `${n}`, `${n}`),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).to.have.length(3)
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        if (answer.status === 503) expectError(answer, 503, 'Overloaded')
        else expectError(answer, 413, full)
      }
      expect(await service.anna.names()).to.have.length(3)
      await expectNoLitter(service)
    })

    it('takes no larger file than its maker says, and keeps the quota', async () => {
      await using service = await start({ customers: [{ ...anna, quota: 10 }] })
      const url = await makeLink(service, 'in-', { prefix: true, maxSize: 6 })
      expectError(await put(named(url, 'in-1'), '1234567'), 413, 'File too large')
      expectError(await post(url, '1', '1234567'), 413, 'File too large')
      expectOk(await put(named(url, 'in-1'), '123456'))
      expectError(await put(named(url, 'in-2'), '123456'), 413, 'Quota exceeded')
      expect(await service.anna.names()).to.deep.equal(['in-1'])
      await expectNoLitter(service)
    })

    it('checks digests, and stores nothing of what is no whole file', async () => {
      await using service = await start()
      const url = await makeLink(service, 'a')
      const digest = { 'content-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
      expectError(await put(url, 'x', digest), 400, 'Digest mismatch')
      const part = { 'content-range': 'bytes 0-0/2' }
      expect((await put(url, 'x', part)).status).to.equal(400)
      const noForm = await toAnswer(await fetch(url, { method: 'POST', body: 'x' }))
      expectError(noForm, 400, 'No file')
      expect(await service.anna.names()).to.deep.equal([])
      await expectNoLitter(service)
    })

    it('counts alone, whatever credentials come with it, and a customer sends no form there', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      const url = await makeLink(service, 'a')
      const target = url.slice(service.url.length)
      expectOk(await service.as(bert).send('PUT', target, { body: 'x' }))
      expect(await service.anna.names()).to.deep.equal(['a'])
      const wrong = await service.as(bert).send('PUT', '/upload/a?link=x', { body: 'x' })
      expectError(wrong, 403, refusal)
      const form = await service.as(bert).send('POST', '/upload/a')
      expectError(form, 405, 'Method not allowed. Use PUT, OPTIONS')
    })

    it('is refused in one way whatever is wrong with the link, before the body is read', async () => {
      await using service = await start({ brake: { failuresPerAddress: 99 } })
      const url = await makeLink(service, 'in-', { prefix: true })
      const target = named(url, 'in-1')
      const answers = await Promise.all(
        [
          target.replace('.anna.', '.no-one.'),
          target.replace(/.$/u, (last) => (last === '0' ? '1' : '0')),
          target.replace('.p3n100.', '.p3n999.'),
          target.replace('.p3n100.', '.p2n100.'),
          `${target}&link=`,
          `${service.url}/upload/in-1?link=`,
          `${service.url}/upload/%FF?link=x`,
        ].map((wrong) => put(wrong, 'x')),
      )
      for (const answer of answers) {
        expectError(answer, 403, refusal)
        expect([...answer.headers.keys()]).to.deep.equal([...(answers[0]?.headers.keys() ?? [])])
      }
      const head = `PUT /upload/in-1?link=x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n`
      const early = await service.exchange(`${head}Content-Length: 100000\r\n\r\n`)
      expectError(early, 403, refusal)
    })

    it('refuses what cannot be such a link, in words that name the mistake', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'a'))
      const refuse = async (wishes: object, status: number, message: string, name = 'b') =>
        expectError(
          await service.anna.send('POST', `/link/${name}`, { body: JSON.stringify(wishes) }),
          status,
          message,
        )
      const verb = 'upload'
      await refuse({ verb }, 412, 'Precondition Failed', 'a')
      await refuse({ verb: 'delete' }, 400, 'Invalid verb: it must be "download" or "upload"')
      await refuse({ verb, prefix: 1 }, 400, 'Invalid prefix: it must be true or false')
      await refuse({ verb, replace: 'x' }, 400, 'Invalid replace: it must be true or false')
      const size = 'Invalid maxSize: it must be a whole number of bytes from 1'
      for (const maxSize of [0, 1.5, '1', 2 ** 53]) await refuse({ verb, maxSize }, 400, size)
      const files = 'Invalid maxFiles: it must be a whole number from 1 to 10000'
      for (const maxFiles of [0, 10_001, null]) {
        await refuse({ verb, prefix: true, maxFiles }, 400, files)
      }
      await refuse({ verb, maxFiles: 2 }, 400, 'Invalid maxFiles: it is for links with a prefix')
      await refuse({ verb, inline: true }, 400, 'Invalid inline: it is for links to download')
      const uploads = 'it is for links to upload, with "verb":"upload"'
      await refuse({ maxSize: 1 }, 400, `Invalid maxSize: ${uploads}`, 'a')
      await refuse({ verb: 'download', prefix: true }, 400, `Invalid prefix: ${uploads}`, 'a')
      await refuse({ verb }, 400, 'Invalid filename: it contains a slash', 'a%2Fb')
    })

    it('stands in the log as used by a link, without the link', async () => {
      await using service = await start()
      const url = await makeLink(service, 'a')
      await put(url, 'x')
      await put(`${url}0`, 'x')
      const [, used, refused] = service.log.map(({ fields }) => fields)
      expect(used).to.include({ path: '/upload/a', status: 200, customer: 'anna', link: true })
      expect(refused).to.include({ path: '/upload/a', status: 403, reason: refusal })
      expect(JSON.stringify(service.log)).to.not.include(url.slice(-64))
    })
  })
}
