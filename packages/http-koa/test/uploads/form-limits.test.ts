import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { type Answer, exchange, openConnection, until } from '@holdfast/testing'
import { formLimits } from '../../src/uploads/form-syntax.ts'
import { expectError } from '../support/expect-error.ts'
import { generateStore } from '../support/generated-store.ts'
import {
  customerRequest,
  filePart,
  form,
  formRequest,
  formType,
  part,
  textPart,
} from '../support/request.ts'
import { runApp, type RunningApp } from '../support/running-app.ts'

const file = filePart('a.txt')
const disposition = 'Content-Disposition: form-data; name="file"; filename="a.txt"'

/** The most that busboy takes for the headers of a part, with most of the line breaks, in bytes: 16 KiB. */
const partHeaderBytes = 16 * 1024 - 3

const batch = (body: string) =>
  customerRequest('POST', '/upload/batch', { 'Content-Type': formType }, body)

/** The status of each line of a batch, or of the whole. */
const statuses = ({ status, body }: Answer) => {
  const lines = [...body.matchAll(/^\{.*"statusCode":(\d+).*\}$/gm)]
  return lines.length > 0 ? lines.map(([, code]) => Number(code)) : [status]
}

for (const [route, send] of [
  ['POST /upload', formRequest],
  ['POST /upload/batch', batch],
] as const) {
  describe(`The limits of a form of ${route}`, () => {
    let app: RunningApp
    beforeEach(async () => {
      app = await runApp()
    })
    afterEach(() => app[Symbol.asyncDispose]())

    const upload = (...parts: readonly string[]) => exchange(app.port, send(form(...parts)))

    const expectBoundary = async (
      exactly: readonly string[],
      beyond: readonly string[],
      status: number,
      message: string,
    ) => {
      const passed = await upload(...exactly)
      expect(statuses(passed), passed.body).to.deep.equal([200])
      expect(await app.names()).to.deep.equal(['a.txt'])
      await app.files.delete('a.txt')
      const refused = await upload(...beyond)
      expect(statuses(refused).at(-1), refused.body).to.equal(status)
      expect(refused.body).to.include(message)
      expect(await app.names()).to.deep.equal([])
    }

    it('let a text field of exactly 64 KiB pass, and not one byte more', async () => {
      const { fieldSize } = formLimits
      await expectBoundary(
        [textPart('note', 'x'.repeat(fieldSize)), file],
        [textPart('note', 'x'.repeat(fieldSize + 1)), file],
        413,
        'A text field of the form exceeds 65536 bytes',
      )
    })

    it('let 100 text fields pass, and not one more', async () => {
      const fields = Array.from({ length: formLimits.fields }, () => textPart('note', 'x'))
      await expectBoundary(
        [...fields, file],
        [...fields, textPart('note', 'x'), file],
        413,
        'More than 100 text fields in the form',
      )
    })

    it('let the headers of a part have 16 KiB, and not one byte more', async () => {
      const rest = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nX: \r\n\r\n'
      const withBytes = (bytes: number) =>
        part(`${disposition}\r\nX: ${'x'.repeat(bytes - rest.length)}`)
      await expectBoundary(
        [withBytes(partHeaderBytes)],
        [withBytes(partHeaderBytes + 1)],
        400,
        'Malformed multipart body',
      )
    })

    it('let a part have 1,000 header lines, and refuse one more rather than drop any', async () => {
      const { partHeaders } = formLimits
      const withLines = (lines: number) => part(`${'a:b\r\n'.repeat(lines - 1)}${disposition}`)
      await expectBoundary(
        [withLines(partHeaders)],
        [withLines(partHeaders + 1)],
        400,
        'Malformed multipart body',
      )
      const many = await upload(part(`${'a:\r\n'.repeat(3_000)}${disposition}`))
      expect(many.body).to.include('Malformed multipart body')
    })

    it('let field names have any length that the headers of a part have, and any nesting', async () => {
      for (const name of [
        'n'.repeat(16_000),
        `n${'[x]'.repeat(5_000)}`,
        '__proto__[x]',
        'n[9999]',
      ]) {
        const answer = await upload(textPart(name, 'x'), file)
        expect(statuses(answer), name.slice(0, 20)).to.deep.equal([200])
      }
    })

    it('let field names stand for lists of any length, and make none of them', async () => {
      const fields = [textPart('a[4294967294]', 'x'), textPart('a[b]', 'y')]
      const begin = performance.now()
      const answer = await upload(...fields, file)
      expect(statuses(answer), answer.body).to.deep.equal([200])
      // To make one of them takes minutes, in which nobody else is served.
      expect(performance.now() - begin).to.be.lessThan(40_000)
    })

    it('let a boundary of 70 characters pass, and not one more', async () => {
      const withBoundary = (boundary: string) => {
        const body = form(file).replaceAll(/^--.*?(?=-*\r\n)/gm, `--${boundary}`)
        const type = `multipart/form-data; boundary=${boundary}`
        return exchange(
          app.port,
          customerRequest('POST', route.slice(5), { 'Content-Type': type }, body),
        )
      }
      expect(statuses(await withBoundary('b'.repeat(70)))).to.deep.equal([200])
      const refused = await withBoundary('b'.repeat(71))
      expectError(refused)
      expect(refused.body).to.include('Malformed multipart body')
    })
  })
}

describe('The limits of a form of POST /upload', () => {
  it('let 1,000 parts pass, and not one more', async () => {
    await using app = await runApp()
    const others = Array.from({ length: formLimits.parts - 1 }, () =>
      filePart('b', '').replace('"file"', '"other"'),
    )
    const passed = await exchange(app.port, formRequest(form(...others, file)))
    expect(passed.body).to.equal('OK')
    const refused = await exchange(
      app.port,
      formRequest(form(...others, textPart('a', 'b'), filePart('c'))),
    )
    expectError(refused)
    expect([refused.status, refused.body]).to.deep.equal([
      413,
      JSON.stringify({
        statusCode: 413,
        error: 'Payload Too Large',
        message: 'More than 1000 parts in the form',
      }),
    ])
    expect(await app.names()).to.deep.equal(['a.txt'])
  })
})

describe('The limits of a form of POST /upload/batch', () => {
  it('let 10,000 files pass, and not one more; those before it stay', async () => {
    await using app = await runApp()
    const parts = Array.from({ length: formLimits.batchFiles }, (_, index) =>
      filePart(`${index % 100}`, ''),
    )
    const beyond = await exchange(app.port, batch(form(...parts, filePart('one more'))))
    expect(statuses(beyond)).to.deep.equal([...parts.map(() => 200), 413])
    expect(beyond.body).to.include(
      '{"statusCode":413,"error":"Payload Too Large","message":"More than 10000 files in the form"}\n',
    )
    expect(await app.names()).to.not.include('one more')
  })

  it('let a client send no more small files than a few ahead of the store', async () => {
    const gate = Promise.withResolvers<undefined>()
    const memory = createMemoryBlobStore()
    const store: BlobStore = {
      ...memory,
      async put(...args) {
        await gate.promise
        return memory.put(...args)
      },
    }
    await using app = await runApp({ store })
    using connection = await openConnection(app.port, { staysOpen: true })
    const headers = { 'Content-Type': formType, 'Content-Length': 2 ** 40 }
    connection.write(customerRequest('POST', '/upload/batch', headers))
    const parts = Buffer.from(filePart('a', '').repeat(200_000))
    expect(await connection.isTaken(parts), `all of ${parts.length} bytes`).to.equal(false)
    gate.resolve(undefined)
    const beyond = '"message":"More than 10000 files in the form"'
    await until('the batch ended', () => connection.received().includes(beyond), 15_000)
  })
})

describe('A boundary that is full of repetitions', () => {
  it('does not slow the parser beyond measure', async () => {
    await using app = await runApp({ store: generateStore({ size: 0 }) })
    const usual = await fewestSecondsWith(app, '-'.repeat(24) + 'd74496d66958873e', 0x78)
    const adverse = await fewestSecondsWith(app, 'b' + 'a'.repeat(69), 0x61)
    console.log(
      `figures: adversarial boundary: ${(adverse / usual).toFixed(1)} times as long as a usual one`,
    )
    expect(adverse / usual).to.be.below(30)
  })
})

/** Of three uploads: whatever else the machine does makes one longer, and none shorter. */
async function fewestSecondsWith(...upload: Parameters<typeof secondsWith>): Promise<number> {
  const first = await secondsWith(...upload)
  return Math.min(first, await secondsWith(...upload), await secondsWith(...upload))
}

/** How long an upload of 8 MiB of one byte takes, with this boundary. */
async function secondsWith({ port }: RunningApp, boundary: string, byte: number): Promise<number> {
  const head = `--${boundary}\r\n${disposition}\r\n\r\n`
  const body = Buffer.concat([
    Buffer.from(head),
    Buffer.alloc(8 * 1024 * 1024, byte),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  const type = `multipart/form-data; boundary=${boundary}`
  const headers = { 'Content-Type': type, 'Content-Length': body.length }
  const begin = performance.now()
  const answer = await exchange(
    port,
    Buffer.concat([customerRequest('POST', '/upload', headers), body]),
  )
  expect(answer.status, answer.body).to.equal(200)
  return (performance.now() - begin) / 1000
}
