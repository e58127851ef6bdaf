import { execFileSync, spawnSync, type StdioOptions } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createFaults, injectFaults } from '@holdfast/contract/faults'
import { FileServiceError } from '@holdfast/core'
import { type Connection, makeTemporaryDirectory, rejection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { requestHead } from '../support/request-head.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

const path = '/serve/batch'

const send = ({ anna }: RunningService, body: string, query = ''): Promise<Answer> =>
  anna.send('POST', `${path}${query}`, { headers: { 'Content-Type': 'application/json' }, body })

const archiveOf = (service: RunningService, names: readonly string[], query?: string) =>
  send(service, JSON.stringify(names), query)

/** Asks for the files on a connection that stays open. */
async function begin(service: RunningService, names: readonly string[]): Promise<Connection> {
  const body = JSON.stringify(names)
  const headers = { ...service.anna.headers, 'Content-Length': body.length }
  const connection = await service.connect({ staysOpen: true })
  await connection.send(requestHead('POST', path, headers), body)
  return connection
}

/** The names and contents in an archive, as GNU tar unpacks it. */
async function filesIn(answer: Answer): Promise<readonly (readonly [string, string])[]> {
  expect(answer.status).to.equal(200)
  expect(answer.headers.get('content-type')).to.equal('application/x-tar')
  await using folder = await makeTemporaryDirectory()
  const listed = tarOf(answer, '-t', '--quoting-style=literal').toString()
  const names = listed.split('\n').slice(0, -1)
  expect(tarOf(answer, '-x', '-C', folder.path).toString()).to.equal('')
  expect(new Set(await readdir(folder.path))).to.deep.equal(new Set(names))
  const contents = names.map((name) => readFile(join(folder.path, name), 'utf8'))
  return (await Promise.all(contents)).map((content, at) => [names[at] ?? '', content])
}

/** What GNU tar writes about an archive. */
function tarOf({ bytes }: Answer, ...args: readonly string[]): Buffer {
  const stdio: StdioOptions = ['pipe', 'pipe', 'inherit']
  return execFileSync('tar', ['-f', '-', ...args], { input: bytes, stdio })
}

/** What has arrived of a body in chunks (RFC 9112 §7.1), one character a byte. */
function chunksIn(answer: string): Buffer {
  let content = ''
  let at = answer.indexOf('\r\n\r\n') + 4
  while (true) {
    const [line = '', digits = ''] = /^([\da-f]+)\r\n/.exec(answer.slice(at, at + 20)) ?? []
    const size = Number.parseInt(digits, 16)
    if (!(size > 0)) return Buffer.from(content, 'latin1')
    content += answer.slice(at + line.length, at + line.length + size)
    at += line.length + size + 2
  }
}

const noArray = 'Invalid body: it must be a JSON array of names such as ["a.txt"]'

export function serveBatch(start: StartService): void {
  describe('POST /serve/batch', () => {
    it('hands out each file that is named, in the order of the names, without those that are not there', async () => {
      await using service = await start()
      const names = ['b', 'a €', 'batch', 'c "d"\\', 'empty', 'ü'.repeat(127), 'x'.repeat(255)]
      const contentOf = (name: string) => (name === 'empty' ? '' : `content of ${name}`)
      for (const name of names) expectOk(await service.anna.put(name, contentOf(name)))
      const answer = await archiveOf(service, ['no', ...names, 'b', 'missing'])
      expect(await filesIn(answer)).to.deep.equal([
        ...names.map((name) => [name, contentOf(name)]),
        ['b', 'content of b'],
      ])
      const { headers } = await service.anna.serve('b')
      const time = tarOf(answer, '-t', '-v', '--utc', '--full-time', 'b').toString()
      const modified = new Date(headers.get('last-modified') ?? '').toISOString()
      expect(time).to.include(modified.slice(0, 19).replace('T', ' '))
      expect(answer.headers.get('cache-control')).to.equal('private, no-cache')
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff')
    })

    it('hands out large files, too, or leaves them out with `largest`', async () => {
      await using service = await start()
      const sizes = { a: 3_000_000, b: 512, c: 513, d: 70_000 }
      for (const [name, size] of Object.entries(sizes)) {
        expectOk(await service.anna.put(name, name.repeat(size)))
      }
      const names = Object.keys(sizes)
      const found = await filesIn(await archiveOf(service, names))
      expect(found.map(([, content]) => content.length)).to.deep.equal(Object.values(sizes))
      expect(found.every(([name, content]) => content === name.repeat(content.length))).to.be.true
      const small = await filesIn(await archiveOf(service, names, '?largest=512'))
      expect(small.map(([name]) => name)).to.deep.equal(['b'])
    })

    it('has an archive without entries for no names, and for a customer without files', async () => {
      await using service = await start()
      expect(await filesIn(await archiveOf(service, []))).to.deep.equal([])
      expect(await filesIn(await archiveOf(service, ['a']))).to.deep.equal([])
    })

    it('refuses a name that no file can have, and sends nothing', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'content'))
      for (const [name, problem] of [
        ['x/y', 'it contains a slash'],
        ['..', 'it is ".."'],
        ['', 'it is empty'],
        ['\ud800', 'it is not valid Unicode'],
      ] as const) {
        const answer = await archiveOf(service, ['a', name])
        expectError(answer, 400, `Invalid filename: ${problem}`)
      }
    })

    it('refuses every other body, conditions, and a `largest` that is no size', async () => {
      await using service = await start()
      for (const body of ['', '["a"', '"a"', '{"names":["a"]}', '["a",1]', 'null']) {
        expectError(await send(service, body), 400, noArray)
      }
      const many = JSON.stringify(Array.from({ length: 10_001 }, () => 'a'))
      expectError(await send(service, many), 413, 'More than 10000 names in the body')
      const long = '["a"]'.padEnd(4 * 1024 ** 2 + 1)
      expectError(await send(service, long), 413, 'The body exceeds 4194304 bytes')
      const headers = { 'if-none-match': '"x"' }
      const conditional = await service.anna.send('POST', path, { headers, body: '["a"]' })
      expectError(conditional, 400, 'Invalid if-none-match: archives support no conditions')
      for (const largest of ['', '-1', '1e3', '1.5', 'x', '9'.repeat(16)]) {
        const answer = await archiveOf(service, ['a'], `?largest=${largest}`)
        expectError(answer, 400, 'Invalid largest: it must be a number of bytes')
      }
      const twice = await archiveOf(service, ['a'], '?largest=1&largest=2')
      expectError(twice, 400, 'Invalid largest: it is sent twice')
    })

    it('leaves the path to the file `batch` for GET', async () => {
      await using service = await start()
      expectOk(await service.anna.put('batch', 'of that name'))
      expect(await service.anna.text('batch')).to.equal('of that name')
    })

    it('hands out the files of the customer alone, and nothing by a link', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      for (const name of ['a', 'b']) expectOk(await service.as(bert).put(name, 'of bert'))
      expectOk(await service.anna.put('b', 'of anna'))
      expect(await filesIn(await archiveOf(service, ['a', 'b']))).to.deep.equal([['b', 'of anna']])
      const made = await service.anna.send('POST', '/link/b')
      const { url } = JSON.parse(made.bytes.toString()) as { url: string }
      const query = url.slice(url.indexOf('?'))
      const byLink = requestHead('POST', `${path}${query}`, { 'Content-Length': 5 })
      expectError(await service.exchange(byLink, '["b"]'), 400, 'No auth headers')
    })

    it('answers the error of the first file, breaks off at that of a later one, and closes all', async () => {
      const faults = createFaults()
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      const names = Array.from({ length: 20 }, (_, index) => `file ${index + 10}`)
      for (const name of names) expectOk(await service.anna.put(name, name.repeat(20_000)))
      const error = new FileServiceError('store-unavailable', 'ECONNREFUSED')
      faults.plan({ nth: 1, only: { method: 'open', moment: 'call' }, error })
      expectError(await archiveOf(service, names), 503, 'Storage unavailable')
      faults.plan({ nth: 15, only: { method: 'open', moment: 'call' }, error })
      expect(await rejection(archiveOf(service, names))).to.be.instanceOf(Error)
      await until('all files are closed', () => faults.underWay() === 0)
      faults.plan()
      expect(await filesIn(await archiveOf(service, names))).to.have.length(20)
      expect(faults.underWay()).to.equal(0)
    })

    it('sends the files before one that cannot be read, and has tar report that there are more', async () => {
      const faults = createFaults()
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      const names = Array.from({ length: 20 }, (_, index) => `file ${index + 10}`)
      for (const name of names) expectOk(await service.anna.put(name, name))
      faults.plan({ nth: 6, only: { method: 'open', moment: 'call' } })
      using connection = await begin(service, names)
      await until('the server has cut it', () => connection.isClosed())
      const archive = chunksIn(connection.received())
      const { stdout, stderr, status } = spawnSync('tar', ['-t', '-f', '-'], { input: archive })
      expect(stdout.toString().trim().split('\n')).to.deep.equal(names.slice(0, 5))
      expect(stderr.toString()).to.include('Unexpected EOF')
      expect(status).not.to.equal(0)
      expect(faults.underWay()).to.equal(0)
    })

    it('opens no file any more when the client has left, though none of the names has one', async () => {
      const faults = createFaults()
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      expectOk(await service.anna.put('large', Buffer.alloc(300_000)))
      const names = ['large', ...Array.from({ length: 9_999 }, (_, index) => `none ${index}`)]
      const { promise: hold, resolve } = Promise.withResolvers<undefined>()
      faults.plan({ nth: 20, only: { method: 'open', moment: 'call' }, hold })
      using connection = await begin(service, names)
      await until('the names without a file are looked for', () => faults.struck().length > 0)
      // A client that only ends its side may still read.
      connection.reset()
      // Until the server sees that.
      await delay(100)
      resolve(undefined)
      await until('all is closed', () => faults.underWay() === 0)
      const calls = faults.steps().filter(({ moment }) => moment === 'call')
      expect(calls.length).to.be.lessThan(100)
    })

    it('opens no further file when the client has left, and closes those that are open', async () => {
      const faults = createFaults()
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      const names = Array.from({ length: 200 }, (_, index) => `file ${index + 100}`)
      for (const name of names) expectOk(await service.anna.put(name, Buffer.alloc(300_000)))
      faults.plan()
      using connection = await begin(service, names)
      await until('a file is open', () => faults.underWay() > 0)
      connection.close()
      await until('all files are closed', () => faults.underWay() === 0)
      const opened = faults
        .steps()
        .filter(({ method, moment }) => method === 'open' && moment === 'call')
      expect(opened.length).to.be.lessThan(200)
    })
  })
}
