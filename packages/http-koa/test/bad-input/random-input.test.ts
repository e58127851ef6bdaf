import fc from 'fast-check'
import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { customerRequest, filePart, form, formRequest, textPart } from '../support/request.ts'
import { runApp, type RunningApp } from '../support/running-app.ts'

const seed = 19_910_806
const options = { seed, numRuns: 150 }

/** An error in the usual form, or a success; never a fault, never silence. */
async function send(app: RunningApp, bytes: Uint8Array): Promise<number> {
  using connection = await openConnection(app.port, { staysOpen: true })
  connection.write(bytes)
  connection.halfClose()
  const answer = await connection.answer()
  if (answer.status >= 400) expectError(answer)
  expect(answer.status, answer.body).to.not.equal(500)
  return answer.status
}

const good = formRequest(form(textPart('note', 'text'), filePart('a.txt')))
const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength })

describe('Random input', () => {
  let app: RunningApp

  before(async () => (app = await runApp({ idleTimeoutMs: 400 })))
  after(() => app[Symbol.asyncDispose]())

  it('is answered: a good upload with a few bytes exchanged', async () => {
    const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255))
    const changes = fc.array(change, { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(changes, async (each) => {
        const changed = Buffer.from(good)
        for (const [index, value] of each) changed[index] = value
        await send(app, changed)
      }),
      options,
    )
  })

  it('is refused: a good upload that is cut off anywhere, and stores nothing', async () => {
    for (const name of await app.names()) await app.files.delete(name)
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: good.length - 5 }), async (length) => {
        expect(await send(app, good.subarray(0, length + 1))).to.be.within(400, 408)
      }),
      options,
    )
    expect(await app.names()).to.deep.equal([])
  })

  it('is refused: bytes instead of a request', async () => {
    await fc.assert(
      fc.asyncProperty(bytes(200), async (noise) => {
        // Line breaks alone are allowed before a request, and are no request.
        const begin = Buffer.from('x')
        expect(await send(app, Buffer.concat([begin, noise]))).to.equal(400)
      }),
      options,
    )
  })

  it('is refused: bytes instead of a form', async () => {
    await fc.assert(
      fc.asyncProperty(bytes(500), async (noise) => {
        const body = Buffer.from(noise).toString('latin1')
        expect(await send(app, formRequest(body))).to.equal(400)
      }),
      options,
    )
  })

  it('is refused or taken: bytes for the file name of a part', async () => {
    await fc.assert(
      fc.asyncProperty(bytes(40), async (noise) => {
        const name = Buffer.from(noise).toString('latin1')
        expect(await send(app, formRequest(form(filePart(name))))).to.be.oneOf([200, 400])
      }),
      options,
    )
  })

  it('is refused or taken: bytes for the value of a header', async () => {
    const header = fc.constantFrom(
      'Range',
      'If-Match',
      'If-None-Match',
      'If-Modified-Since',
      'If-Range',
      'Content-Digest',
      'Content-Type',
      'Expect',
      'Connection',
      'X-Request-Id',
      'x-auth-name',
      'Host',
    )
    await fc.assert(
      fc.asyncProperty(header, bytes(40), async (name, noise) => {
        const value = Buffer.from(noise).toString('latin1')
        await send(app, customerRequest('GET', '/serve/a.txt', { [name]: value }))
        await send(app, customerRequest('PUT', '/upload/a.txt', { [name]: value }, 'body'))
      }),
      { ...options, numRuns: 100 },
    )
  })

  it('is refused or taken: any characters for the target', async () => {
    const target = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(target, async (each) => {
        await send(app, customerRequest('GET', `/serve/${each}`))
        await send(app, customerRequest('GET', each))
        await send(app, customerRequest('GET', `/list?${each}`))
      }),
      { ...options, numRuns: 100 },
    )
  })

  it('leaves no fault in the log, and no connection', async () => {
    expect(app.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
    await until('all connections ended', async () => (await app.connections()) === 0)
  })
})
