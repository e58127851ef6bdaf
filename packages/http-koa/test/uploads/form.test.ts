import { expect } from 'chai'
import { type Connection, openConnection, until } from '@holdfast/testing'
import {
  customerRequest,
  filePart,
  form,
  formRequest,
  formType,
  boundary,
  textPart,
} from '../support/request.ts'
import { runApp } from '../support/running-app.ts'
import { watchStore } from '../support/watched-store.ts'

const mebibyte = 1024 * 1024

const preamble = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`

/** How each way to upload begins. */
const uploads = {
  'PUT /upload/:filename': customerRequest('PUT', '/upload/a', { 'Content-Length': 2 ** 40 }),
  'POST /upload': Buffer.concat([
    customerRequest('POST', '/upload', { 'Content-Type': formType, 'Content-Length': 2 ** 40 }),
    Buffer.from(preamble),
  ]),
  'POST /upload/batch': Buffer.concat([
    customerRequest('POST', '/upload/batch', {
      'Content-Type': formType,
      'Content-Length': 2 ** 40,
    }),
    Buffer.from(preamble),
  ]),
}

/** Sends as much as the server takes without reading. */
async function fill(connection: Connection, most: number): Promise<number> {
  const chunk = Buffer.alloc(mebibyte)
  let sent = 0
  while (sent < most && (await connection.isTaken(chunk))) sent += chunk.length
  return sent
}

for (const [route, head] of Object.entries(uploads)) {
  describe(route, () => {
    it('takes no more from the client than the store takes', async () => {
      const gate = Promise.withResolvers<undefined>()
      const store = watchStore(() => gate.promise)
      await using app = await runApp({ store })
      using connection = await openConnection(app.port, { staysOpen: true })
      connection.write(head)
      expect(await fill(connection, 64 * mebibyte)).to.be.lessThan(32 * mebibyte)
      expect(store.taken()).to.equal(0)
      connection.reset()
      gate.resolve(undefined)
      await until('the upload ended', () => store.puts() === 0)
      expect(await app.names()).to.deep.equal([])
    })
  })
}

describe('POST /upload', () => {
  for (const [kind, parts, names] of [
    ['whose form is read as a stream', [textPart('note', 'x'), filePart('a')], []],
    // As with PUT: all that was asked for was there.
    ['whose form was there at once', [filePart('a')], ['a']],
  ] as const) {
    it(`takes a client ${kind} and that leaves while its file is being stored for no fault`, async () => {
      const gate = Promise.withResolvers<undefined>()
      const store = watchStore(() => gate.promise)
      await using app = await runApp({ store })
      using connection = await openConnection(app.port, { staysOpen: true })
      connection.write(formRequest(form(...parts)))
      await until('the file is being stored', () => store.puts() === 1)
      connection.reset()
      await until('the connection ended', async () => (await app.connections()) === 0)
      gate.resolve(undefined)
      await until('the upload ended', () => store.puts() === 0)
      await until('the request was logged', () => app.log.lines.length > 0)
      expect(await app.names()).to.deep.equal(names)
      expect(app.log.lines.map(({ level }) => level)).to.deep.equal(['info'])
    })
  }

  it('serves the next request of a connection behind a form that was there at once', async () => {
    await using app = await runApp()
    using connection = await openConnection(app.port, { staysOpen: true })
    for (const name of ['a', 'b', 'c']) {
      connection.write(formRequest(form(filePart(name))))
      await until('it is stored', async () => (await app.names()).includes(name))
    }
    connection.write(formRequest(form(filePart('d')), { Connection: 'close' }))
    await until('the connection ended', () => connection.isClosed())
    expect(connection.received().match(/\r\n\r\nOK/g)).to.have.length(4)
    expect(await app.names()).to.deep.equal(['a', 'b', 'c', 'd'])
  })
})
