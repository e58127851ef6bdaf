import { expect } from 'chai'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { exchange } from '@holdfast/testing'
import { multerOptions } from '../../src/uploads/multer-storage.ts'
import { runExpressApp, type MulterApp } from '../support/express-app.ts'
import { runKoaMulterApp } from '../support/koa-multer-app.ts'
import { oddParts } from '../support/odd-parts.ts'
import { filePart, form, formType, part, request, textPart } from '../support/request.ts'

const applications = { Express: runExpressApp, Koa: runKoaMulterApp }

const post = (app: MulterApp, ...parts: readonly string[]) =>
  exchange(app.port, request('POST', '/attachments', { 'Content-Type': formType }, form(...parts)))

async function namesIn({ files }: MulterApp): Promise<readonly string[]> {
  const names: string[] = []
  for await (const page of files.list()) names.push(...page)
  return names
}

for (const [framework, runMulterApp] of Object.entries(applications)) {
  describe(`multerOptions in an ${framework} application`, () => {
    const run = () => runMulterApp({ store: createMemoryBlobStore(), options: multerOptions })

    for (const [headers, reading] of oddParts) {
      const means = typeof reading === 'string' ? reading : `the file ${reading.name}`
      it(`have multer take ${JSON.stringify(headers)} for ${means}`, async () => {
        await using app = await run()
        const { status } = await post(app, filePart('first'), part(headers), textPart('note', 'x'))
        if (typeof reading === 'string') {
          expect(status).to.equal(422)
          expect(app.errors.map(({ message }) => message)).to.deep.equal([reading])
          expect(await namesIn(app)).to.deep.equal([])
        } else {
          expect(status).to.equal(200)
          expect(new Set(await namesIn(app))).to.deep.equal(new Set(['first', reading.name]))
        }
      })
    }

    it('have multer pass over the empty file field of a form', async () => {
      await using app = await run()
      expect((await post(app, filePart('', ''), filePart('a'))).status).to.equal(200)
      expect(await namesIn(app)).to.deep.equal(['a'])
    })

    it('have multer refuse a part or a field that is encoded', async () => {
      await using app = await run()
      const encoding = 'Content-Transfer-Encoding: base64'
      for (const what of ['name="file"; filename="a"', 'name="note"']) {
        const encoded = part(`Content-Disposition: form-data; ${what}\r\n${encoding}`)
        expect((await post(app, encoded, filePart('b'))).status).to.equal(422)
        expect(app.errors.at(-1)?.message).to.include('Content-Transfer-Encoding must be binary')
        expect(await namesIn(app)).to.deep.equal([])
      }
    })

    it('have multer take a part behind a boundary with padding', async () => {
      await using app = await run()
      const body = form(filePart('a'), textPart('note', 'x'), filePart('b'))
      const padded = body.replaceAll(/^--boundary-of-a-test/gm, '$& ')
      const headers = { 'Content-Type': formType }
      // The closing one ends with its hyphens.
      const whole = padded.replace(/ --\r\n$/, '--\r\n')
      const answer = await exchange(app.port, request('POST', '/attachments', headers, whole))
      expect(answer.status).to.equal(200)
      expect(new Set(await namesIn(app))).to.deep.equal(new Set(['a', 'b']))
    })

    for (const [filename, stored, error] of [
      ['reports/a.txt', ['a.txt'], undefined],
      ['reports/', [], 'Invalid filename: it is empty'],
      ['..', [], 'Invalid filename: it is ".."'],
      ['a\\b(1)*.txt', ['a\\b(1)*.txt'], undefined],
      ['\xff', [], 'Invalid filename: it is not valid UTF-8, or contains a control character'],
      ['a\0b', [], 'Invalid filename: it is not valid UTF-8, or contains a control character'],
    ] as const) {
      it(`have the storage judge ${JSON.stringify(filename)}`, async () => {
        await using app = await run()
        await post(app, filePart(filename))
        expect(await namesIn(app)).to.deep.equal(stored)
        expect(app.errors[0]?.message).to.equal(error)
      })
    }

    it('bound how long the list is that a text field can make, and how deep', async () => {
      await using app = await run()
      for (const name of ['a[4294967294]', `a${'[b]'.repeat(1_000)}`]) {
        const answer = await post(app, textPart(name, 'x'), textPart('a[b]', 'y'), filePart('a'))
        expect(answer.status).to.equal(422)
      }
      expect(app.errors).to.have.length(2)
      expect(app.errors[0]).to.have.property('code', 'LIMIT_FIELD_ARRAY_INDEX')
      expect(app.errors[1]).to.have.property('code', 'LIMIT_FIELD_NESTING')
      const few = await post(
        app,
        textPart('a[7]', 'x'),
        textPart('say %22hi%22\\', 'y'),
        filePart('a'),
      )
      expect(few.status).to.equal(200)
    })
  })
}
