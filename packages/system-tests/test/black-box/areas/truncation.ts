import { type Connection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { boundary, filePart, form, formType, textPart } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

/** With a boundary of one letter: each byte is a place to cut at, and a longer one has no other kinds of places. */
const shortForm = (...parts: readonly Buffer[]) =>
  Buffer.from(
    form(...parts)
      .toString()
      .replaceAll(boundary, 'b'),
  )
const shortType = formType.replace(boundary, 'b')

const body = shortForm(textPart('note', 'x'), filePart('a.txt', 'new'))
/** Behind this many bytes the closing boundary has been read. */
const complete = body.length - 2

const endings = {
  closing: (connection: Connection) => connection.close(),
  'half-closing': (connection: Connection) => connection.halfClose(),
  resetting: (connection: Connection) => connection.reset(),
} as const

const formHead = (service: RunningService, length: number, headers = {}) =>
  requestHead('POST', '/upload', {
    ...service.anna.headers,
    'Content-Type': shortType,
    'Content-Length': length,
    ...headers,
  })

const sendForm = (service: RunningService, sent: Uint8Array) =>
  service.exchange(formHead(service, sent.length), sent)

/** Cuts an upload off behind `sent`, and waits until the service is through with it. */
async function cutOff(
  service: RunningService,
  head: Buffer,
  sent: Uint8Array,
  end: (connection: Connection) => void,
): Promise<void> {
  const handled = service.log.length
  using connection = await service.connect()
  await connection.send(head)
  // A reset takes along what the service has not read, so the head must have been read before.
  expect((await connection.answer()).status).to.equal(100)
  await connection.send(sent)
  end(connection)
  await connection.closed
  await until('the request is logged', () => service.log.length > handled)
}

export function truncation(start: StartService): void {
  forms(start)
  rawUploads(start)
  batch(start)
}

function forms(start: StartService): void {
  describe('a truncated multipart body', () => {
    it('at any byte, with a Content-Length to match, is malformed and never visible', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'old'))
      for (let length = 1; length < complete; length++) {
        const answer = await sendForm(service, body.subarray(0, length))
        expectError(answer, 400, 'Malformed multipart body')
      }
      expect(await service.anna.text('a.txt')).to.equal('old')
      await expectNoLitter(service)
      expectOk(await sendForm(service, body.subarray(0, complete)))
      expect(await service.anna.text('a.txt')).to.equal('new')
    })

    for (const [title, end] of Object.entries(endings)) {
      it(`at any byte, by ${title} the connection, is never visible and leaves the old file`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a.txt', 'old'))
        const head = formHead(service, body.length, { Expect: '100-continue' })
        for (let length = 0; length < complete; length++) {
          await cutOff(service, head, body.subarray(0, length), end)
        }
        expect(await service.anna.text('a.txt')).to.equal('old')
        expect(await service.anna.names()).to.deep.equal(['a.txt'])
        await expectNoLitter(service)
      })
    }

    it('is answered 400 Malformed multipart body to a client that half-closes and listens', async () => {
      await using service = await start()
      for (const length of [0, 30, 100, complete - 1]) {
        using connection = await service.connect()
        await connection.send(formHead(service, body.length), body.subarray(0, length))
        connection.halfClose()
        expectError(await connection.answer(), 400, 'Malformed multipart body')
      }
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('in chunks without the last one is never visible, even where the form in them is whole', async () => {
      await using service = await start()
      const headers = { 'Content-Type': shortType, 'Transfer-Encoding': 'chunked' }
      const head = requestHead('POST', '/upload', { ...service.anna.headers, ...headers })
      for (const length of [0, 20, complete - 1]) {
        using connection = await service.connect()
        const chunk = body.subarray(0, length)
        await connection.send(head, length ? `${length.toString(16)}\r\n` : '', chunk)
        connection.halfClose()
        await connection.closed
      }
      expect(await service.anna.names()).to.deep.equal([])
    })
  })
}

function rawUploads(start: StartService): void {
  describe('a raw upload that is truncated', () => {
    for (const [title, end] of Object.entries(endings)) {
      it(`at any byte, by ${title} the connection, is never visible and leaves the old file`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a.txt', 'old'))
        const expectation = { 'Content-Length': 10, Expect: '100-continue' }
        const headers = { ...service.anna.headers, ...expectation }
        const head = requestHead('PUT', '/upload/a.txt', headers)
        for (let length = 0; length < 10; length++) {
          await cutOff(service, head, Buffer.alloc(length, 'x'), end)
        }
        expect(await service.anna.text('a.txt')).to.equal('old')
        await expectNoLitter(service)
      })
    }

    it('is answered 400 Truncated body to a client that half-closes and listens', async () => {
      await using service = await start()
      const headers = { ...service.anna.headers, 'Content-Length': 10 }
      using connection = await service.connect()
      await connection.send(requestHead('PUT', '/upload/a.txt', headers), 'xxxxx')
      connection.halfClose()
      expectError(await connection.answer(), 400, 'Truncated body')
    })
  })
}

interface Listed {
  readonly name: string
  readonly size: number
}

function batch(start: StartService): void {
  describe('a truncated batch', () => {
    const files = shortForm(filePart('a', 'one'), textPart('note', 'x'), filePart('b', 'two'))
    const whole = files.length - 2

    /** What is listed at all has all its bytes. */
    const expectWhole = async (service: RunningService) => {
      const { status, bytes } = await service.anna.list({ details: '1' })
      const listed = status === 200 ? (JSON.parse(bytes.toString()) as Listed[]) : []
      for (const { name, size } of listed) {
        expect(name, 'name').to.be.oneOf(['a', 'b'])
        expect(size, `size of ${name}`).to.equal(3)
      }
    }
    const expectContents = async (service: RunningService) => {
      expect(await service.anna.text('a')).to.be.oneOf([undefined, 'one'])
      expect(await service.anna.text('b')).to.be.oneOf([undefined, 'two'])
      await expectNoLitter(service)
    }

    const headOf = (service: RunningService, length: number, expectation = {}) =>
      requestHead('POST', '/upload/batch', {
        ...service.anna.headers,
        'Content-Type': shortType,
        'Content-Length': length,
        ...expectation,
      })

    it('at any byte, with a Content-Length to match, ends with Malformed multipart body', async () => {
      await using service = await start()
      for (let length = 1; length < whole; length++) {
        const sent = files.subarray(0, length)
        const { bytes } = await service.exchange(headOf(service, length), sent)
        const last = bytes.toString().trimEnd().split('\n').at(-1) ?? ''
        expect(JSON.parse(last), `${length}`).to.include({ message: 'Malformed multipart body' })
        await expectWhole(service)
      }
      await expectContents(service)
    })

    for (const [title, end] of Object.entries(endings)) {
      it(`at any byte, by ${title} the connection, shows no part of a file`, async () => {
        await using service = await start()
        const head = headOf(service, files.length, { Expect: '100-continue' })
        for (let length = 0; length < whole; length++) {
          await cutOff(service, head, files.subarray(0, length), end)
          await expectWhole(service)
        }
        await expectContents(service)
      })
    }
  })
}
