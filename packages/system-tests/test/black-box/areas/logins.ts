import { expect } from 'chai'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { formData, type CustomerClient } from '../support/customer-client.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

const password = 'battery staple'

/** Logins of anna with the usual sets of rights, and one for each right alone. */
const customers = [
  anna,
  { name: 'anna/full', password },
  { name: 'anna/reader', password, may: ['list', 'read'] },
  { name: 'anna/adder', password, may: ['list', 'read', 'create'] },
  { name: 'anna/dropper', password, may: ['create'] },
  { name: 'anna/linker', password, may: ['read', 'create', 'link'] },
  { name: 'anna/deleter', password, may: ['delete'] },
  { name: 'anna/nothing', password, may: [] },
  { name: 'anna/gone', password, endsAtMs: 1_000_000_000_000 },
  { name: 'bert', password, may: ['list', 'read'] },
] as const

const ofLogin = (service: RunningService, login: string) =>
  service.as({ name: `anna/${login}`, password })

interface Way {
  readonly needs: readonly string[]
  readonly run: (client: CustomerClient) => Promise<Answer>
}

const json = { 'content-type': 'application/json' }

/** Every way by which a login may ask for something, and the rights that it needs. */
const ways: Readonly<Record<string, Way>> = {
  'GET /list': { needs: ['list'], run: (client) => client.list() },
  'GET /list?details=1': { needs: ['list'], run: (client) => client.list({ details: '1' }) },
  'GET /list in pages': { needs: ['list'], run: (client) => client.list({ limit: '1' }) },
  'GET /usage': { needs: ['list'], run: (client) => client.send('GET', '/usage') },
  'GET /serve': { needs: ['read'], run: (client) => client.serve('a') },
  'GET /serve of a part': {
    needs: ['read'],
    run: (client) => client.serve('a', { range: 'bytes=0-1' }),
  },
  'GET /serve with a condition': {
    needs: ['read'],
    run: (client) => client.serve('a', { 'if-none-match': '"x"' }),
  },
  'POST /serve/batch': {
    needs: ['read'],
    run: (client) => client.send('POST', '/serve/batch', { body: '["a"]' }),
  },
  'POST /upload': { needs: ['create'], run: (client) => client.upload('new', 'x') },
  'POST /upload of much': {
    needs: ['create'],
    run: (client) => client.upload('new', 'x'.repeat(1_000_000)),
  },
  'PUT /upload': { needs: ['create'], run: (client) => client.put('new', 'x') },
  'PUT /upload of much': {
    needs: ['create'],
    run: (client) => client.put('new', 'x'.repeat(1_000_000)),
  },
  'POST /resumable': { needs: ['create'], run: (client) => begin(client, 'new') },
  'DELETE /delete': { needs: ['delete'], run: (client) => client.remove('a') },
  'POST /rename': {
    needs: ['read', 'create', 'delete'],
    run: (client) => client.send('POST', '/rename/a', { headers: json, body: '{"to":"new"}' }),
  },
  'POST /link': {
    needs: ['link', 'read'],
    run: (client) => client.send('POST', '/link/a', { headers: json, body: '{}' }),
  },
  'POST /link to upload': {
    needs: ['link', 'create'],
    run: (client) => client.send('POST', '/link/n', { headers: json, body: '{"verb":"upload"}' }),
  },
  'POST /link to replace': {
    needs: ['link', 'create', 'replace'],
    run: (client) =>
      client.send('POST', '/link/n', { headers: json, body: '{"verb":"upload","replace":true}' }),
  },
  'DELETE /links': {
    needs: ['list', 'read', 'create', 'replace', 'delete', 'link'],
    run: (client) => client.send('DELETE', '/links'),
  },
}

const tus = { 'tus-resumable': '1.0.0' }

function begin(client: CustomerClient, name: string, length = 3): Promise<Answer> {
  const filename = Buffer.from(name).toString('base64')
  return client.send('POST', '/resumable', {
    headers: { ...tus, 'upload-length': String(length), 'upload-metadata': `filename ${filename}` },
  })
}

function append(client: CustomerClient, path: string, content: string): Promise<Answer> {
  return client.send('PATCH', path, {
    headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    body: content,
  })
}

function linesOf({
  bytes,
}: Answer): readonly { filename?: string; statusCode: number; message: string }[] {
  const lines = bytes.toString().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as { statusCode: number; message: string })
}

export function logins(start: StartService): void {
  describe('further logins of a customer', () => {
    for (const [title, { needs, run }] of Object.entries(ways)) {
      it(`may ${title} with ${needs.join(', ')}, and learn what is missing`, async () => {
        await using service = await start({ customers })
        expectOk(await service.anna.upload('a', 'content'))
        for (const { name, ...login } of customers) {
          if (!('may' in login) || !name.startsWith('anna/')) continue
          const may: readonly string[] = login.may
          const answer = await run(service.as({ name, password }))
          const missing = needs.filter((right) => !may.includes(right))
          if (missing.length > 0) {
            const rights = missing.length === 1 ? 'right' : 'rights'
            expectError(answer, 403, `Not allowed: missing ${rights} ${missing.join(', ')}`)
            continue
          }
          expect(answer.status, `${name}: ${answer.bytes.toString()}`).to.be.within(200, 299)
          await Promise.all([service.anna.remove('new'), service.anna.upload('a', 'content')])
        }
        expect((await run(ofLogin(service, 'full'))).status).to.be.within(200, 299)
      })
    }

    it('see the files of the customer, as it sees theirs', async () => {
      await using service = await start({ customers })
      expectOk(await ofLogin(service, 'adder').upload('a', 'content'))
      expect(await service.anna.text('a')).to.equal('content')
      expect(await ofLogin(service, 'reader').text('a')).to.equal('content')
      expect(await service.as({ name: 'bert', password }).names()).to.deep.equal([])
    })

    it('answer Precondition Failed for a taken name without the right replace, and keep the file', async () => {
      await using service = await start({ customers })
      expectOk(await service.anna.upload('a', 'content'))
      const adder = ofLogin(service, 'adder')
      const answers = [
        await adder.upload('a', 'other'),
        await adder.put('a', 'other'),
        await adder.upload('a', 'x'.repeat(1_000_000)),
        await adder.put('a', 'x'.repeat(1_000_000)),
        await begin(adder, 'a'),
      ]
      for (const answer of answers) expectError(answer, 412, 'Precondition Failed')
      const form = formData('a', 'other')
      form.append('file', new Blob(['new']), 'b')
      const batch = await adder.send('POST', '/upload/batch', { body: form })
      expect(
        linesOf(batch).map(({ filename, statusCode }) => [filename, statusCode]),
      ).to.deep.equal([
        ['a', 412],
        ['b', 200],
      ])
      expect(await service.anna.text('a')).to.equal('content')
      expectOk(await ofLogin(service, 'full').upload('a', 'other'))
    })

    it('say in the lines of batches what is missing', async () => {
      await using service = await start({ customers })
      expectOk(await service.anna.upload('a', 'content'))
      const reader = ofLogin(service, 'reader')
      const upload = await reader.send('POST', '/upload/batch', { body: formData('b', 'x') })
      const deletion = await reader.send('POST', '/delete/batch', { headers: json, body: '["a"]' })
      expect(linesOf(upload)[0]).to.include({
        statusCode: 403,
        message: 'Not allowed: missing right create',
      })
      expect(linesOf(deletion)[0]).to.include({
        statusCode: 403,
        message: 'Not allowed: missing right delete',
      })
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('see only the unfinished uploads that they have begun', async () => {
      await using service = await start({ customers })
      const begun = await begin(ofLogin(service, 'dropper'), 'new')
      const path = new URL(begun.headers.get('location') ?? '', service.url).pathname
      for (const login of ['adder', 'full']) {
        const client = ofLogin(service, login)
        expectError(await append(client, path, 'abc'), 404, 'Upload not found')
        const head = await client.send('HEAD', path, { headers: tus })
        expect(head.status).to.equal(404)
        expectError(await client.send('DELETE', path, { headers: tus }), 404, 'Upload not found')
      }
      const answer = await append(ofLogin(service, 'dropper'), path, 'abc')
      expect(answer.status, answer.bytes.toString()).to.equal(204)
      expect(await service.anna.text('new')).to.equal('abc')
    })

    it('make links that give what the login has, and that end with those of the customer', async () => {
      await using service = await start({ customers })
      expectOk(await service.anna.upload('a', 'content'))
      const made = await ofLogin(service, 'linker').send('POST', '/link/a', {
        headers: json,
        body: '{}',
      })
      const { url } = JSON.parse(made.bytes.toString()) as { url: string }
      expect(await (await fetch(url)).text()).to.equal('content')
      const forged = url.replace('anna%2Flinker', 'anna%2Ffull')
      expect(forged).to.not.equal(url)
      expect((await fetch(forged)).status).to.equal(403)
      expectOk(await service.anna.send('DELETE', '/links'))
      await new Promise((resolve) => setTimeout(resolve, 600))
      expect((await fetch(url)).status).to.equal(403)
    })

    it('are distinguished in the log', async () => {
      await using service = await start({ customers })
      expectOk(await ofLogin(service, 'dropper').upload('a', 'content'))
      expectOk(await service.anna.upload('b', 'content'))
      await service.anna.list()
      const uploads = service.log.filter(({ fields }) => fields['path'] === '/upload')
      expect(uploads.map(({ fields }) => [fields['customer'], fields['login']])).to.deep.equal([
        ['anna', 'dropper'],
        ['anna', undefined],
      ])
    })

    it('end, and cannot be guessed from their customer', async () => {
      await using service = await start({ customers })
      for (const name of [
        'anna/gone',
        'anna/',
        'anna/strange',
        '/reader',
        'reader',
        'bert/reader',
      ]) {
        expectError(await service.as({ name, password }).list(), 400, 'Invalid credentials')
      }
      const swapped = service.as({ name: 'anna/reader', password: anna.password })
      expectError(await swapped.list(), 400, 'Invalid credentials')
    })

    it('say in GET /usage what they may do', async () => {
      await using service = await start({ customers })
      const usageOf = async (client: CustomerClient) => {
        const { bytes } = await client.send('GET', '/usage')
        const { login, may } = JSON.parse(bytes.toString()) as Record<string, unknown>
        return { login, may }
      }
      expect(await usageOf(service.anna)).to.deep.equal({ login: undefined, may: undefined })
      expect(await usageOf(ofLogin(service, 'full'))).to.deep.equal({
        login: 'full',
        may: undefined,
      })
      expect(await usageOf(ofLogin(service, 'reader'))).to.deep.equal({
        login: 'reader',
        may: ['list', 'read'],
      })
      expect(await usageOf(service.as({ name: 'bert', password }))).to.deep.equal({
        login: undefined,
        may: ['list', 'read'],
      })
    })
  })
}
