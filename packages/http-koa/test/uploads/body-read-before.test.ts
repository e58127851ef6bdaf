import { createServer, type IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createFileService, type CustomerFiles } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { bodyParser } from '@koa/bodyparser'
import { expect } from 'chai'
import express from 'express'
import Koa from 'koa'
import multer from 'multer'
import { exchange } from '@holdfast/testing'
import { createMulterStorage, createRouter } from '../../src/index.ts'
import { collectLog, type CollectedLog } from '../support/collected-log.ts'
import { expectError } from '../support/expect-error.ts'
import { listen, type Listening } from '../support/listening.ts'
import { filePart, form, formType, request, textPart } from '../support/request.ts'

/** An application with something before the routes of the service. */
interface App extends Listening {
  readonly files: CustomerFiles
  readonly log: CollectedLog
}

type Before = Koa.Middleware

function createMount() {
  const service = createFileService({ store: createMemoryBlobStore() })
  const files = service.filesOf({ name: 'alice' })
  const log = collectLog()
  const router = createRouter(service, { prefix: '/files', authenticate: async () => files, log })
  const app = new Koa()
  return { files, log, router, app }
}

async function inKoa(...before: readonly Before[]): Promise<App> {
  const { files, log, router, app } = createMount()
  for (const middleware of before) app.use(middleware)
  app.use(router.routes())
  return { ...(await listen(createServer(listener(app)))), files, log }
}

async function inExpress(...before: readonly express.RequestHandler[]): Promise<App> {
  const { files, log, router, app } = createMount()
  app.use(router.routes())
  const outer = express()
  outer.use(...before)
  outer.use(listener(app))
  return { ...(await listen(createServer(outer))), files, log }
}

function listener(app: Koa) {
  const callback = app.callback()
  return (...exchanged: Parameters<typeof callback>) => void callback(...exchanged)
}

/** Reads every body, of whatever type. */
const koaParser = (): Before => {
  const everything = ['application/*', 'text/*', 'multipart/*']
  return bodyParser({ enableTypes: ['text'], extendTypes: { text: everything } })
}

const json = { 'Content-Type': 'application/json' }
const chunked = { 'Transfer-Encoding': 'chunked' }
const asForm = { 'Content-Type': formType }
const content = '{"a":1}'
const ofForm = form(filePart('a', content))

function inChunks(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
}

/** A request with its body in one chunk, and no length. */
function chunkedRequest(method: string, path: string, type: Record<string, string>, body: string) {
  const head = request(method, path, { ...type, ...chunked })
  return Buffer.concat([head, Buffer.from(inChunks(body), 'latin1')])
}

/** Every way to upload; the name of the file is `a`. */
const uploads: Readonly<Record<string, Buffer>> = {
  'a PUT': request('PUT', '/files/upload/a', json, content),
  'a PUT without a length': chunkedRequest('PUT', '/files/upload/a', json, content),
  'a PUT that creates only': request(
    'PUT',
    '/files/upload/b',
    { ...json, 'If-None-Match': '*' },
    content,
  ),
  'a form': request('POST', '/files/upload', asForm, ofForm),
  'a form with a digest': request(
    'POST',
    '/files/upload',
    asForm,
    form(textPart('sha256', '0'.repeat(64)), filePart('a', content)),
  ),
  'a form without a length': chunkedRequest('POST', '/files/upload', asForm, ofForm),
  'names to delete': request('POST', '/files/delete/batch', json, JSON.stringify([content])),
  'a batch': request('POST', '/files/upload/batch', asForm, form(filePart('a'), filePart('b'))),
  'a batch without a length': chunkedRequest('POST', '/files/upload/batch', asForm, ofForm),
}

/** Passes when the upload is answered by 500, stores nothing, and the log says what to change. */
async function expectFault(app: App, upload: Buffer, remedy: RegExp): Promise<void> {
  await app.files.upload('a', 'earlier')
  const answer = await exchange(app.port, upload)
  expectError(answer)
  expect(answer.status).to.equal(500)
  expect(answer.body).to.include('An unexpected error occurred')
  const lines = app.log.lines.filter(({ level }) => level === 'error')
  expect(lines, 'lines of errors').to.have.length(1)
  expect(lines[0]?.fields['err'])
    .to.be.instanceOf(Error)
    .with.property('message')
    .that.matches(remedy)
  const names: string[] = []
  for await (const page of app.files.list()) names.push(...page)
  expect(names).to.deep.equal(['a'])
  expect(await text((await app.files.serve('a')).content)).to.equal('earlier')
}

const mounts: Readonly<Record<string, () => Promise<App>>> = {
  'a body parser before the router in Koa': () => inKoa(koaParser()),
  'a body parser before the router in Express': () => inExpress(express.raw({ type: '*/*' })),
}

for (const [mount, open] of Object.entries(mounts)) {
  describe(`With ${mount}`, () => {
    for (const [what, bytes] of Object.entries(uploads)) {
      it(`${what} is a fault of the application`, async () => {
        await using app = await open()
        await expectFault(app, bytes, /read the request's body.*before body parsers/)
      })
    }

    it('an empty file is stored: nothing was read of it', async () => {
      await using app = await open()
      const empty = request('PUT', '/files/upload/a', { ...json, 'Content-Length': 0 })
      expect((await exchange(app.port, empty)).body).to.equal('OK')
    })

    it('what is no form is refused as ever', async () => {
      await using app = await open()
      const answer = await exchange(app.port, request('POST', '/files/upload', json, content))
      expectError(answer)
      expect(answer.body).to.include('No file')
    })
  })
}

const jsonOnly: Readonly<Record<string, () => Promise<App>>> = {
  Koa: () => inKoa(bodyParser()),
  Express: () => inExpress(express.json()),
}

for (const [mount, open] of Object.entries(jsonOnly)) {
  describe(`With a parser of JSON before the router in ${mount}`, () => {
    it('a PUT of JSON is a fault of the application', async () => {
      await using app = await open()
      await expectFault(app, request('PUT', '/files/upload/a', json, content), /body parsers/)
    })

    it('bodies that the parser leaves alone are stored', async () => {
      await using app = await open()
      for (const bytes of [
        request('PUT', '/files/upload/a', {}, content),
        chunkedRequest('PUT', '/files/upload/b', {}, content),
        request('POST', '/files/upload', asForm, form(filePart('c', content))),
        chunkedRequest('POST', '/files/upload', asForm, form(filePart('d', content))),
        request('POST', '/files/upload/batch', asForm, form(filePart('e', content))),
      ]) {
        expect((await exchange(app.port, bytes)).status).to.equal(200)
      }
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        expect(await text((await app.files.serve(name)).content), name).to.equal(content)
      }
    })
  })
}

describe('With a call of setEncoding before the router', () => {
  for (const [what, bytes] of Object.entries(uploads)) {
    it(`${what} is a fault of the application`, async () => {
      await using app = await inKoa(async (ctx, next) => {
        ctx.req.setEncoding('utf8')
        await next()
      })
      await expectFault(app, bytes, /setEncoding/)
    })
  }
})

describe('With a body in the place of the one that was announced', () => {
  /** `change`d bodies, with the headers as they were, as middleware has it that undoes a Content-Encoding. */
  const replacing =
    (change: (body: string) => string): Before =>
    async (ctx, next) => {
      const { headers, rawHeaders, method, url, socket, httpVersion } = ctx.req
      const body = change(await text(ctx.req))
      const described = { headers, rawHeaders, method, url, socket, httpVersion, complete: true }
      const replaced = Object.assign(new PassThrough(), described) as unknown as IncomingMessage
      ctx.req = replaced
      ctx.request.req = replaced
      // In two pieces, so that it is not there at once.
      setImmediate(() => {
        ;(replaced as unknown as PassThrough).write(body.slice(0, 5), 'latin1')
        setImmediate(() => (replaced as unknown as PassThrough).end(body.slice(5), 'latin1'))
      })
      await next()
    }
  const changes: Readonly<Record<string, (body: string) => string>> = {
    'a longer one': (body) => `\r\n${body}`,
    'a shorter one': (body) => body.replace(/":1|nt\r\n--/, (found) => found.slice(2)),
  }
  const withLength = Object.entries(uploads).filter(([, bytes]) => bytes.includes('Content-Length'))
  for (const [change, apply] of Object.entries(changes)) {
    for (const [what, bytes] of withLength.filter(([name]) => name !== 'a batch')) {
      it(`${what} is a fault of the application: ${change}`, async () => {
        await using app = await inKoa(replacing(apply))
        await expectFault(app, bytes, /\d+ bytes instead of the \d+/)
      })
    }

    it(`a batch ends with a line of a fault: ${change}`, async () => {
      await using app = await inKoa(replacing(apply))
      const batch = uploads['a batch'] ?? Buffer.of()
      const { body } = await exchange(app.port, batch)
      expect(body).to.match(/"statusCode":500.*"An unexpected error occurred"/)
      expect(app.log.lines.some(({ level }) => level === 'error')).to.equal(true)
    })
  }

  it('a body of the same length is stored', async () => {
    await using app = await inKoa(replacing((body) => body.replace('{"a":1}', '{"b":2}')))
    for (const [what, bytes] of withLength) {
      const { status } = await exchange(app.port, bytes)
      expect(status, what).to.equal(what === 'a form with a digest' ? 400 : 200)
    }
  })
})

describe('createMulterStorage with a call of setEncoding before multer', () => {
  it('refuses the file, which multer would have had altered', async () => {
    const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'alice' })
    const upload = multer({ storage: createMulterStorage({ filesOf: () => files }) })
    const app = express()
    app.use((incoming, _response, next) => {
      incoming.setEncoding('utf8')
      next()
    })
    app.post('/', upload.single('file'), (_request, response) => void response.send('thanks'))
    const answerError: express.ErrorRequestHandler = (error: Error, _request, response, _next) => {
      response.status(500).send(error.message)
    }
    app.use(answerError)
    await using listening = await listen(createServer(app))
    const binary = form(filePart('a', '\xff\xfe'))
    const { body } = await exchange(listening.port, request('POST', '/', asForm, binary))
    expect(body).to.match(/setEncoding/)
    const names: string[] = []
    for await (const page of files.list()) names.push(...page)
    expect(names).to.deep.equal([])
  })
})
