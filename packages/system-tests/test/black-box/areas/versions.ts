import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectExceeded, expectOk, type Answer } from '../support/answer.ts'
import type { CustomerClient } from '../support/customer-client.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

const dayMs = 24 * 60 * 60 * 1000

/** A customer whose replaced and deleted files are kept. */
const keeper = { ...anna, keepReplacedMs: dayMs }

interface Entry {
  readonly name: string
  readonly version: string
  readonly size: number
  readonly modified: string
  readonly replaced?: string
  readonly deleted?: string
  readonly type: string
}

/** POST /restore/:filename with this body. */
function restore(client: CustomerClient, name: string, body: unknown = {}): Promise<Answer> {
  return client.send('POST', `/restore/${encodeURIComponent(name)}`, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function entries(client: CustomerClient, path: string): Promise<readonly Entry[]> {
  const answer = await client.send('GET', path)
  expect(answer.status, answer.bytes.toString()).to.equal(200)
  return JSON.parse(answer.bytes.toString()) as Entry[]
}

const versionsOf = (client: CustomerClient, name: string) =>
  entries(client, `/versions/${encodeURIComponent(name)}`)

const serveVersion = (
  client: CustomerClient,
  { name, version }: Pick<Entry, 'name' | 'version'>,
  headers: Readonly<Record<string, string>> = {},
) => client.send('GET', `/serve/${encodeURIComponent(name)}?version=${version}`, { headers })

/** Stores `contents` under a name, one after the other. */
async function uploadAll({ anna: client }: RunningService, name: string, contents: string[]) {
  for (const content of contents) expectOk(await client.upload(name, content))
}

export function versions(start: StartService): void {
  const startKeeping = () => start({ customers: [keeper] })

  describe('GET /versions/:filename', () => {
    it('lists what was replaced and deleted, newest first', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a b.txt', ['1', '22', '333'])
      expectOk(await service.anna.remove('a b.txt'))
      const found = await versionsOf(service.anna, 'a b.txt')
      expect(found.map(({ size }) => size)).to.deep.equal([3, 2, 1])
      for (const entry of found) {
        expect(entry).to.include({ name: 'a b.txt', type: 'text/plain; charset=utf-8' })
        expect(entry).to.have.all.keys('version', 'name', 'size', 'modified', 'replaced', 'type')
        expect(Date.parse(entry.replaced ?? '')).to.be.at.least(Date.parse(entry.modified) - 1000)
      }
    })

    it('is empty for a file without an earlier version, and File not found without a file', async () => {
      await using service = await startKeeping()
      expectOk(await service.anna.upload('a', 'x'))
      expectOk(await service.anna.upload('ab', 'x'))
      expect(await versionsOf(service.anna, 'a')).to.deep.equal([])
      for (const name of ['b', 'A', '']) {
        const answer = await service.anna.send('GET', `/versions/${name}`)
        if (name === '') expectError(answer, 400, 'No filename. Use /versions/<filename>')
        else expectError(answer, 404, 'File not found')
      }
    })

    it('comes in pages, each with a Link to the next', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['1', '22', '333', '4444', '55555', '666666'])
      const sizes: number[] = []
      let pages = 0
      for (let query: string | undefined = '?limit=2'; query !== undefined; pages++) {
        const path: string = `/versions/a${query}`
        const answer: Answer = await service.anna.send('GET', path)
        const head: Answer = await service.anna.send('HEAD', path)
        const page = JSON.parse(answer.bytes.toString()) as Entry[]
        sizes.push(...page.map(({ size }) => size))
        const link: string | null = answer.headers.get('link')
        expect(head.headers.get('link')).to.equal(link)
        expect(head.status).to.equal(200)
        query = link === null ? undefined : /^<(.*)>; rel="next"$/.exec(link)?.[1]
      }
      expect(sizes).to.deep.equal([5, 4, 3, 2, 1])
      expect(pages).to.equal(3)
    })

    it('says what is wrong with the query', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['1', '2'])
      for (const [query, message] of [
        ['limit=0', 'Invalid limit: it must be a whole number from 1'],
        ['limit=1&limit=2', 'Invalid limit: it is sent twice'],
        ['before=1&before=2', 'Invalid before: it is sent twice'],
        ['before=../x', 'Invalid before: it must be a version'],
      ] as const) {
        expectError(await service.anna.send('GET', `/versions/a?${query}`), 400, message)
      }
      expect(await entries(service.anna, '/versions/a?before=')).to.have.length(1)
    })
  })

  describe('GET /serve/:filename?version=', () => {
    it('serves an earlier version, with the headers, conditions and ranges of a file', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a.txt', ['old content', 'new'])
      const [old] = await versionsOf(service.anna, 'a.txt')
      if (old === undefined) throw new Error('There is no version')
      const whole = await serveVersion(service.anna, old)
      expect(whole.bytes.toString()).to.equal('old content')
      const names = (answer: Answer) => [...answer.headers.keys()].sort()
      expect(names(whole)).to.deep.equal(names(await service.anna.serve('a.txt')))
      const etag = whole.headers.get('etag') ?? ''
      const part = await serveVersion(service.anna, old, { range: 'bytes=4-', 'if-range': etag })
      expect([part.status, part.bytes.toString()]).to.deep.equal([206, 'content'])
      const known = await serveVersion(service.anna, old, { 'if-none-match': etag })
      expect(known.status).to.equal(304)
      const other = await serveVersion(service.anna, old, { 'if-match': '"other"' })
      expectError(other, 412, 'Precondition Failed')
      const changed = await serveVersion(service.anna, old, {
        range: 'bytes=4-',
        'if-range': '"other"',
      })
      expect([changed.status, changed.bytes.toString()]).to.deep.equal([200, 'old content'])
      const path = `/serve/a.txt?version=${old.version}`
      const head = await service.anna.send('HEAD', path)
      expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '11'])
      expect(await service.anna.text('a.txt')).to.equal('new')
    })

    it('answers Version not found for one that is not kept of this name', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['old', 'new'])
      await uploadAll(service, 'b', ['old', 'new'])
      const [old] = await versionsOf(service.anna, 'b')
      for (const version of ['', 'none', '..', '../b', old?.version ?? '']) {
        const path = `/serve/a?version=${encodeURIComponent(version)}`
        expectError(await service.anna.send('GET', path), 404, 'Version not found')
        expect((await service.anna.send('HEAD', path)).status).to.equal(404)
      }
      const twice = await service.anna.send('GET', '/serve/a?version=1&version=2')
      expectError(twice, 400, 'Invalid version: it is sent twice')
    })

    it('is refused by a link, whose file it is, too', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['old', 'new'])
      const [old] = await versionsOf(service.anna, 'a')
      const made = await service.anna.send('POST', '/link/a', { body: '{}' })
      const { url } = JSON.parse(made.bytes.toString()) as { url: string }
      expect(await (await fetch(url)).text()).to.equal('new')
      for (const version of [old?.version ?? '', '']) {
        const answer = await fetch(`${url}&version=${version}`)
        expect(answer.status).to.equal(403)
        expect(await answer.json()).to.have.property('message', 'The link is wrong, or has expired')
      }
      expect(await (await fetch(url)).text()).to.equal('new')
    })
  })

  describe('POST /restore/:filename', () => {
    it('stores what was deleted or replaced last, also with an empty body', async () => {
      await using service = await startKeeping()
      expectOk(await service.anna.upload('a b', 'content'))
      expectOk(await service.anna.remove('a b'))
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const { stdout } = await curl([...auth, '-X', 'POST', `${service.url}/restore/a%20b`])
      expect(stdout.toString()).to.equal('OK')
      expect(await service.anna.text('a b')).to.equal('content')
      expectOk(await service.anna.upload('a b', 'other'))
      const answer = await restore(service.anna, 'a b')
      expectOk(answer)
      const served = await service.anna.serve('a b')
      expect(served.bytes.toString()).to.equal('content')
      expect(served.headers.get('etag')).to.equal(answer.headers.get('etag'))
      const [replaced] = await versionsOf(service.anna, 'a b')
      expect(replaced?.size).to.equal(5)
    })

    it('stores the version that is asked for, also under another name, and keeps it', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['1', '22', '333'])
      const [, first] = await versionsOf(service.anna, 'a')
      const { version } = first ?? {}
      expectOk(await restore(service.anna, 'a', { version, as: 'ö' }))
      expect(await service.anna.text('ö')).to.equal('1')
      expect(await service.anna.text('a')).to.equal('333')
      expectOk(await restore(service.anna, 'a', { version }))
      expect(await service.anna.text('a')).to.equal('1')
      const sizes = (await versionsOf(service.anna, 'a')).map(({ size }) => size)
      expect(sizes).to.deep.equal([3, 2, 1])
    })

    it('answers Precondition Failed where the name is taken and createOnly is true', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['old', 'new'])
      const taken = await restore(service.anna, 'a', { createOnly: true })
      expectError(taken, 412, 'Precondition Failed')
      expect(await service.anna.text('a')).to.equal('new')
      expectOk(await restore(service.anna, 'a', { createOnly: true, as: 'b' }))
      expect(await service.anna.text('b')).to.equal('old')
    })

    it('answers Version not found, and changes nothing', async () => {
      const bert = { name: 'bert', password: 'battery staple', keepReplacedMs: dayMs }
      await using service = await start({ customers: [keeper, bert] })
      await uploadAll(service, 'a', ['old', 'new'])
      const [old] = await versionsOf(service.anna, 'a')
      expectOk(await service.as(bert).upload('a', 'x'))
      for (const [client, name, body] of [
        [service.anna, 'none', {}],
        [service.anna, 'b', { version: old?.version }],
        [service.anna, 'a', { version: 'none' }],
        [service.anna, 'a', { version: '..' }],
        [service.as(bert), 'a', {}],
        [service.as(bert), 'a', { version: old?.version }],
      ] as const) {
        expectError(await restore(client, name, body), 404, 'Version not found')
      }
      expect(await service.anna.names()).to.deep.equal(['a'])
      expect(await service.as(bert).text('a')).to.equal('x')
    })

    it('says what is wrong with the body, the name or a condition', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['old', 'new'])
      const noJson =
        'Invalid body: it must be JSON such as {"version":"5yxyd-g","as":"b.txt","createOnly":true}'
      const wrong: readonly (readonly [body: unknown, message: string])[] = [
        ['version=1', noJson],
        ['null', noJson],
        ['[]', noJson],
        [{ to: 'b' }, noJson],
        [{ version: 1 }, 'Invalid version: it must be a version'],
        [{ as: null }, 'Invalid as: it must be a name'],
        [{ as: '..' }, 'Invalid as: it is ".."'],
        [{ createOnly: 'yes' }, 'Invalid createOnly: it must be true or false'],
        ['{}'.padEnd(5000), 'Invalid body: it is longer than 4096 bytes'],
      ]
      for (const [body, message] of wrong) {
        expectError(await restore(service.anna, 'a', body), 400, message)
      }
      for (const path of ['/restore', '/restore/']) {
        const answer = await service.anna.send('POST', path)
        expectError(answer, 400, 'No filename. Use /restore/<filename>')
      }
      const headers = { 'if-none-match': '*' }
      const conditional = await service.anna.send('POST', '/restore/a', { headers })
      expectError(conditional, 400, 'Invalid if-none-match: restores support no conditions')
      expect(await service.anna.text('a')).to.equal('new')
    })

    it('counts in the quota, as an upload of the same bytes does', async () => {
      await using service = await start({ customers: [{ ...keeper, quota: 100 }] })
      expectOk(await service.anna.upload('a', 'x'.repeat(60)))
      expectOk(await service.anna.remove('a'))
      expectOk(await service.anna.upload('b', 'x'.repeat(50)))
      expectExceeded(await restore(service.anna, 'a'))
      expectOk(await restore(service.anna, 'a', { as: 'b' }))
      expect(await service.anna.names()).to.deep.equal(['b'])
    })

    it('asks for credentials, and takes no link for them', async () => {
      await using service = await startKeeping()
      await uploadAll(service, 'a', ['old', 'new'])
      const made = await service.anna.send('POST', '/link/a', { body: '{}' })
      const { url } = JSON.parse(made.bytes.toString()) as { url: string }
      for (const query of ['', new URL(url).search]) {
        for (const [method, path] of [
          ['POST', '/restore/a'],
          ['GET', '/versions/a'],
          ['GET', '/deleted'],
        ] as const) {
          const answer = await fetch(`${service.url}${path}${query}`, { method })
          expect(await answer.json()).to.have.property('message', 'No auth headers')
        }
      }
      expect(await service.anna.text('a')).to.equal('new')
    })
  })

  describe('GET /deleted', () => {
    it('lists the deleted files with their last versions, in pages as /list', async () => {
      await using service = await startKeeping()
      expect(await entries(service.anna, '/deleted')).to.deep.equal([])
      for (const name of ['b', 'ä', 'a', 'ab']) {
        await uploadAll(service, name, ['1', name.repeat(3)])
        if (name !== 'ab') expectOk(await service.anna.remove(name))
      }
      const all = await entries(service.anna, '/deleted')
      expect(all.map(({ name, size }) => [name, size])).to.deep.equal([
        ['a', 3],
        ['b', 3],
        ['ä', 6],
      ])
      for (const entry of all) {
        expect(entry).to.have.all.keys('name', 'version', 'size', 'modified', 'deleted', 'type')
      }
      const first = await service.anna.send('GET', '/deleted?limit=2')
      const link = first.headers.get('link') ?? ''
      expect(link).to.equal('<?limit=2&after=b>; rel="next"')
      const rest = await entries(service.anna, `/deleted${/<(.*)>/.exec(link)?.[1] ?? ''}`)
      expect(rest.map(({ name }) => name)).to.deep.equal(['ä'])
      expect((await entries(service.anna, '/deleted?prefix=a')).map(({ name }) => name))
        .to.deep //
        .equal(['a'])
      expectOk(await restore(service.anna, 'a'))
      expect(await entries(service.anna, '/deleted?prefix=a')).to.deep.equal([])
      const [head, twice] = [
        await service.anna.send('HEAD', '/deleted?limit=1'),
        await service.anna.send('GET', '/deleted?after=a&after=b'),
      ]
      expect([head.status, head.headers.get('link')]).to.deep.equal([
        200,
        '<?limit=1&after=b>; rel="next"',
      ])
      expectError(twice, 400, 'Invalid after: it is sent twice')
    })
  })

  describe('what is kept', () => {
    it('is counted in GET /usage, where the customer keeps', async () => {
      await using service = await start({
        customers: [keeper, { name: 'bert', password: 'battery staple' }],
      })
      await uploadAll(service, 'a', ['1', '22', '333'])
      const usageOf = async (client: CustomerClient) =>
        JSON.parse((await client.send('GET', '/usage')).bytes.toString()) as Record<string, unknown>
      expect(await usageOf(service.anna)).to.deep.include({
        bytes: 3,
        kept: { versions: 2, bytes: 3 },
      })
      const bert = service.as({ name: 'bert', password: 'battery staple' })
      expect(await usageOf(bert)).to.not.have.property('kept')
    })

    it('is nothing for a customer who does not keep', async () => {
      await using service = await start()
      await uploadAll(service, 'a', ['1', '2'])
      expectOk(await service.anna.remove('a'))
      for (const path of ['/deleted', '/versions/a']) {
        expectError(await service.anna.send('GET', path), 404, 'Not Found')
      }
      expectError(await restore(service.anna, 'a'), 404, 'Not Found')
    })

    it('opens to the rights list and read, and is restored by read and create, and replace', async () => {
      const password = 'battery staple'
      const logins = [
        { name: 'anna/lister', password, may: ['list'] },
        { name: 'anna/reader', password, may: ['read'] },
        { name: 'anna/adder', password, may: ['list', 'read', 'create'] },
        { name: 'anna/deleter', password, may: ['delete'] },
      ] as const
      await using service = await start({
        customers: [keeper, ...logins.map((login) => ({ ...login, keepReplacedMs: dayMs }))],
      })
      await uploadAll(service, 'a', ['old', 'new'])
      const [old] = await versionsOf(service.anna, 'a')
      const ways = {
        list: (client: CustomerClient) => client.send('GET', '/versions/a'),
        'list ': (client: CustomerClient) => client.send('GET', '/deleted'),
        read: (client: CustomerClient) =>
          client.send('GET', `/serve/a?version=${old?.version ?? ''}`),
        'read, create': (client: CustomerClient) => restore(client, 'a', { as: 'b' }),
      }
      for (const { name, may } of logins) {
        for (const [title, run] of Object.entries(ways)) {
          const missing = title
            .trim()
            .split(', ')
            .filter((right) => !(may as readonly string[]).includes(right))
          const answer = await run(service.as({ name, password }))
          if (missing.length === 0) expect(answer.status, `${name}: ${title}`).to.equal(200)
          else {
            const rights = missing.length === 1 ? 'right' : 'rights'
            expectError(answer, 403, `Not allowed: missing ${rights} ${missing.join(', ')}`)
          }
        }
      }
      expect(await service.anna.text('b')).to.equal('old')
      const adder = service.as({ name: 'anna/adder', password })
      expectError(await restore(adder, 'a'), 412, 'Precondition Failed')
      // The list does not need the right to read: not even to find out whether there is a file.
      expectOk(await service.anna.upload('fresh', 'x'))
      const lister = service.as({ name: 'anna/lister', password })
      expect(await versionsOf(lister, 'fresh')).to.deep.equal([])
      expectError(await lister.send('GET', '/versions/none'), 404, 'File not found')
    })
  })
}
