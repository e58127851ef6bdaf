import { createFaults, injectFaults } from '@holdfast/contract/faults'
import { FileServiceError } from '@holdfast/core'
import { expect } from 'chai'
import { expectError, expectExceeded, expectOk, type Answer } from '../support/answer.ts'
import { requestHead } from '../support/request-head.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

const path = '/delete/batch'
const gone = (filename: string) => ({ filename, statusCode: 200, message: 'OK' })
const refused = (filename: string, message: string) => ({
  filename,
  statusCode: 400,
  error: 'Bad Request',
  message,
})
const notFound = (filename: string) => refused(filename, 'File not found')
const mostBytes = 4 * 1024 ** 2

const send = ({ anna }: RunningService, body: string): Promise<Answer> =>
  anna.send('POST', path, { headers: { 'Content-Type': 'application/json' }, body })

const deleteAll = (service: RunningService, names: readonly string[]) =>
  send(service, JSON.stringify(names))

function linesOf({ status, headers, bytes }: Answer): readonly unknown[] {
  expect(status).to.equal(200)
  expect(headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8')
  const lines = bytes.toString().split('\n')
  expect(lines.pop()).to.equal('')
  return lines.map((line) => JSON.parse(line) as unknown)
}

async function store({ anna }: RunningService, ...names: readonly string[]): Promise<void> {
  for (const name of names) expectOk(await anna.put(name, 'x'))
}

/** A JSON array of one name, with spaces up to this size. */
const padded = (name: string, size: number) => `["${name}"]`.padEnd(size)

const noArray = 'Invalid body: it must be a JSON array of names such as ["a.txt"]'

const wrongBodies: Readonly<Record<string, string>> = {
  'no body': '',
  'what is no JSON': '["a"',
  'a name alone': '"a"',
  'an object': '{"names":["a"]}',
  'an array with a number': '["a",1]',
  'an array in an array': '["a",["a"]]',
  null: 'null',
}

export function deleteBatch(start: StartService): void {
  describe('POST /delete/batch', () => {
    it('deletes each file that is named, one JSON line each, in the order of the names', async () => {
      await using service = await start()
      const names = ['b', 'a €', 'batch', 'c "d"\\']
      await store(service, ...names, 'stays')
      expect(linesOf(await deleteAll(service, names))).to.deep.equal(names.map(gone))
      expect(await service.anna.names()).to.deep.equal(['stays'])
      expectError(await service.anna.serve('b'), 400, 'File not found')
    })

    it('refuses each name on its own, with the answers of DELETE; a second time it finds none', async () => {
      await using service = await start()
      await store(service, 'a', 'b')
      const answer = await deleteAll(service, ['a', 'x/y', '..', '', '\ud800', 'no', 'a', 'b'])
      expect(linesOf(answer)).to.deep.equal([
        gone('a'),
        refused('x/y', 'Invalid filename: it contains a slash'),
        refused('..', 'Invalid filename: it is ".."'),
        refused('', 'Invalid filename: it is empty'),
        refused('\ud800', 'Invalid filename: it is not valid Unicode'),
        notFound('no'),
        notFound('a'),
        gone('b'),
      ])
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
    })

    it('has no lines for no names', async () => {
      await using service = await start()
      expect(linesOf(await deleteAll(service, []))).to.deep.equal([])
    })

    for (const [title, body] of Object.entries(wrongBodies)) {
      it(`deletes nothing for ${title}: 400`, async () => {
        await using service = await start()
        await store(service, 'a')
        expectError(await send(service, body), 400, noArray)
        expect(await service.anna.names()).to.deep.equal(['a'])
      })
    }

    it('deletes nothing for what is no UTF-8, and for a body that breaks off', async () => {
      await using service = await start()
      await store(service, 'a')
      const head = (length: number) =>
        requestHead('POST', path, { ...service.anna.headers, 'Content-Length': length })
      const bytes = Buffer.from('["a","\xff"]', 'latin1')
      expectError(await service.exchange(head(bytes.length), bytes), 400, noArray)
      using connection = await service.connect({ staysOpen: true })
      await connection.send(head(20), '["a"]')
      connection.halfClose()
      expectError(await connection.answer(), 400, 'Truncated body')
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('takes 10,000 names, and deletes nothing for one more: 413', async () => {
      await using service = await start()
      await store(service, 'a')
      // The store is not asked for names that are not allowed.
      const names = ['a', ...Array.from({ length: 9999 }, (_, index) => `no/${index}`)]
      const message = 'More than 10000 names in the body'
      expectError(await deleteAll(service, [...names, 'more']), 413, message)
      expect(await service.anna.names()).to.deep.equal(['a'])
      const lines = linesOf(await deleteAll(service, names))
      expect(lines).to.have.length(10_000)
      expect([lines[0], lines.at(-1)]).to.deep.equal([
        gone('a'),
        refused('no/9998', 'Invalid filename: it contains a slash'),
      ])
    })

    it('takes 4 MiB, and deletes nothing for one byte more, announced or in chunks: 413', async () => {
      await using service = await start()
      await store(service, 'a', 'b')
      const message = 'The body exceeds 4194304 bytes'
      const tooLarge = padded('a', mostBytes + 1)
      expectError(await send(service, tooLarge), 413, message)
      const head = requestHead('POST', path, {
        ...service.anna.headers,
        'Transfer-Encoding': 'chunked',
      })
      const chunk = `${tooLarge.length.toString(16)}\r\n${tooLarge}\r\n0\r\n\r\n`
      expectError(await service.exchange(head, chunk), 413, message)
      expect(await service.anna.names()).to.deep.equal(['a', 'b'])
      expect(linesOf(await send(service, padded('a', mostBytes)))).to.deep.equal([gone('a')])
    })

    it('asks for no body that is announced as too large', async () => {
      await using service = await start()
      const answer = await service.exchange(
        requestHead('POST', path, {
          ...service.anna.headers,
          'Content-Length': mostBytes + 1,
          Expect: '100-continue',
        }),
      )
      expectError(answer, 413, 'The body exceeds 4194304 bytes')
    })

    it('deletes nothing under a condition, and nothing by a link', async () => {
      await using service = await start()
      await store(service, 'a')
      for (const name of ['If-Match', 'If-None-Match', 'If-Unmodified-Since']) {
        const answer = await service.anna.send('POST', path, {
          headers: { [name]: '*' },
          body: '["a"]',
        })
        const message = `Invalid ${name.toLowerCase()}: deletions support no conditions`
        expectError(answer, 400, message)
      }
      const made = await service.anna.send('POST', '/link/a')
      const { url } = JSON.parse(made.bytes.toString()) as { url: string }
      const query = url.slice(url.indexOf('?'))
      const byLink = requestHead('POST', `${path}${query}`, { 'Content-Length': 5 })
      expectError(await service.exchange(byLink, '["a"]'), 400, 'No auth headers')
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('leaves DELETE on its path to the file of that name', async () => {
      await using service = await start()
      await store(service, 'batch', 'a')
      expectOk(await service.anna.remove('batch'))
      expect(await service.anna.names()).to.deep.equal(['a'])
      expectError(await service.anna.remove('batch'), 400, 'File not found')
    })

    it('deletes the files of the customer alone', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      expectOk(await service.as(bert).put('a', 'of bert'))
      expect(linesOf(await deleteAll(service, ['a']))).to.deep.equal([notFound('a')])
      expect(await service.as(bert).text('a')).to.equal('of bert')
    })

    it('makes room in the quota', async () => {
      await using service = await start({ customers: [{ ...anna, quota: 20, maxFiles: 2 }] })
      for (const name of ['a', 'b']) expectOk(await service.anna.put(name, 'x'.repeat(10)))
      expectExceeded(await service.anna.put('c', 'x'))
      expect(linesOf(await deleteAll(service, ['a', 'b']))).to.deep.equal([gone('a'), gone('b')])
      expectOk(await service.anna.put('c', 'x'.repeat(20)))
    })

    it('says of the file that the store fails at what DELETE would say, and deletes the others', async () => {
      const faults = createFaults()
      await using service = await start({ wrap: (each) => injectFaults(each, faults) })
      const names = Array.from({ length: 20 }, (_, index) => `file ${index + 10}`)
      for (const [error, statusCode, name, message] of [
        [
          new Error('the secret cause'),
          500,
          'Internal Server Error',
          'An unexpected error occurred',
        ],
        [
          new FileServiceError('store-unavailable', 'ECONNREFUSED'),
          503,
          'Service Unavailable',
          'Storage unavailable',
        ],
        [
          new FileServiceError('insufficient-storage', 'ENOSPC'),
          507,
          'Insufficient Storage',
          'Insufficient storage',
        ],
      ] as const) {
        await store(service, ...names)
        faults.plan({ nth: 5, only: { method: 'delete', moment: 'call' }, error })
        const lines = linesOf(await deleteAll(service, names))
        faults.plan()
        expect(lines).to.deep.equal(
          names.map((filename, index) =>
            index === 4 ? { filename, statusCode, error: name, message } : gone(filename),
          ),
        )
        expect(service.log.some(({ fields }) => fields['err'] === error)).to.equal(true)
        expect(await service.anna.names()).to.deep.equal(['file 14'])
      }
    })
  })
}
