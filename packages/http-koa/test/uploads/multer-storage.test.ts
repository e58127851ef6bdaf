import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { toProblem } from '../../src/http/problems.ts'
import { runExpressApp } from '../support/express-app.ts'
import { runKoaMulterApp } from '../support/koa-multer-app.ts'
import { filePart, form, formType, request } from '../support/request.ts'
import { watchStore } from '../support/watched-store.ts'

const applications = { Express: runExpressApp, Koa: runKoaMulterApp }

function post(url: string, ...files: readonly (readonly [name: string, content: string])[]) {
  const body = new FormData()
  for (const [name, content] of files) body.append('file', new Blob([content]), name)
  return fetch(`${url}/attachments`, { method: 'POST', body })
}

/** The names of a store's files. */
async function namesIn(store: ReturnType<typeof watchStore>): Promise<readonly string[]> {
  const names: string[] = []
  for await (const page of store.list('demo')) names.push(...page)
  return names
}

/** Nothing is stored, and nothing is under way. */
async function expectNothing(store: ReturnType<typeof watchStore>): Promise<void> {
  await until('the uploads ended', () => store.puts() === 0)
  expect(await namesIn(store)).to.deep.equal([])
}

for (const [framework, runMulterApp] of Object.entries(applications)) {
  describe(`createMulterStorage in an ${framework} application`, () => {
    it('keeps files invisible until they are published', async () => {
      const store = watchStore()
      const seen: (readonly string[])[] = []
      await using app = await runMulterApp({
        store,
        async handle([a, b]) {
          seen.push(await namesIn(store))
          await b?.publish()
          seen.push(await namesIn(store))
          await a?.publish()
          seen.push(await namesIn(store))
        },
      })
      const response = await post(app.url, ['a.txt', 'first'], ['b.txt', 'second'])
      expect(await response.text()).to.equal('thanks')
      expect(seen).to.deep.equal([[], ['b.txt'], ['a.txt', 'b.txt']])
      expect(app.staged.map(({ size }) => size)).to.deep.equal([5, 6])
      expect((await app.files.stat('b.txt')).size).to.equal(6)
    })

    it('drops what the handler discards', async () => {
      const store = watchStore()
      await using app = await runMulterApp({
        store,
        handle: (staged) => Promise.all(staged.map((each) => each.discard())),
      })
      expect((await post(app.url, ['a.txt', 'x'], ['b.txt', 'y'])).status).to.equal(200)
      await expectNothing(store)
    })

    it('drops what the handler forgets, when the connection ends', async () => {
      const store = watchStore()
      await using app = await runMulterApp({ store, handle: async () => {} })
      using connection = await openConnection(app.port)
      const body = form(filePart('a.txt'))
      connection.write(request('POST', '/attachments', { 'Content-Type': formType }, body))
      expect((await connection.answer()).status).to.equal(200)
      expect(store.puts()).to.equal(1)
      connection.halfClose()
      await expectNothing(store)
    })

    it('lets toProblem say what multer and busboy refuse', async () => {
      await using app = await runMulterApp({ store: watchStore(), fileSize: 100 })
      const send = async (body: FormData | string, type?: string) => {
        const headers = { ...(type !== undefined && { 'Content-Type': type }) }
        const answer = await fetch(`${app.url}/attachments`, { method: 'POST', body, headers })
        expect(answer.status).to.equal(422)
        const { status, message } = toProblem(app.errors.at(-1))
        return [status, message]
      }
      const other = new FormData()
      other.append('elsewhere', new Blob(['x']), 'a.txt')
      const large = new FormData()
      large.append('file', new Blob(['x'.repeat(101)]), 'a.txt')
      expect(await send(other)).to.deep.equal([400, 'Unexpected file field'])
      expect(await send(large)).to.deep.equal([413, 'File too large'])
      expect(await send('x', 'multipart/form-data')).to.deep.equal([
        400,
        'Malformed multipart body',
      ])
      expect(await send(form(filePart('a.txt')).slice(0, -20), formType)).to.deep.equal([
        400,
        'Truncated body',
      ])
    })

    it("keeps multer's own limit on the size of a file, to the byte", async () => {
      const store = watchStore()
      await using app = await runMulterApp({ store, fileSize: 100_000 })
      expect((await post(app.url, ['fits', 'x'.repeat(100_000)])).status).to.equal(200)
      await app.files.delete('fits')
      expect((await post(app.url, ['large', 'x'.repeat(100_001)])).status).to.equal(422)
      expect((await post(app.url, ['a', 'x'], ['larger', 'x'.repeat(900_000)])).status).to.equal(
        422,
      )
      expect(app.errors.map(({ message }) => message)).to.deep.equal([
        'File too large',
        'File too large',
      ])
      await expectNothing(store)
    })

    it('keeps that limit also where it takes a while to know the customer', async () => {
      const store = watchStore()
      const gate = Promise.withResolvers<undefined>()
      await using app = await runMulterApp({ store, fileSize: 10, lookUp: () => gate.promise })
      const answer = post(app.url, ['large', 'x'.repeat(1_000)])
      setImmediate(() => gate.resolve(undefined))
      expect((await answer).status).to.equal(422)
      await expectNothing(store)
    })

    it('drops the files before the one that multer refuses', async () => {
      const store = watchStore()
      await using app = await runMulterApp({ store, maxFiles: 2 })
      const response = await post(app.url, ['a', 'x'], ['b', 'y'], ['c', 'z'])
      expect(response.status).to.equal(422)
      await expectNothing(store)
    })

    it('passes the refusal of the service on', async () => {
      const store = watchStore()
      await using app = await runMulterApp({ store })
      expect((await post(app.url, ['a.txt', 'x'], ['x'.repeat(256), 'y'])).status).to.equal(422)
      expect(app.errors[0]).to.have.property('code', 'invalid-file-name')
      await expectNothing(store)
    })

    it('passes on why the customer is not known', async () => {
      const store = watchStore()
      const lookUp = async () => Promise.reject(new Error('Who are you?'))
      await using app = await runMulterApp({ store, lookUp })
      expect((await post(app.url, ['a.txt', 'x'])).status).to.equal(422)
      expect(app.errors.map(({ message }) => message)).to.deep.equal(['Who are you?'])
    })

    it('stores nothing of a form that breaks off, at whatever byte', async () => {
      const store = watchStore()
      await using app = await runMulterApp({ store })
      const body = form(filePart('a.txt'), filePart('b.txt'))
      const headers = { 'Content-Type': formType, 'Content-Length': body.length }
      const whole = request('POST', '/attachments', headers, body)
      for (let length = whole.length - body.length; length < whole.length - 2; length += 7) {
        using connection = await openConnection(app.port)
        connection.write(whole.subarray(0, length))
        await new Promise((resolve) => setImmediate(resolve))
        connection.reset()
      }
      await until('the connections ended', async () => (await app.connections()) === 0)
      expect(app.staged).to.deep.equal([])
      await expectNothing(store)
    })

    it('drops the file of a client that leaves while the handler thinks', async () => {
      const store = watchStore()
      const gate = Promise.withResolvers<undefined>()
      const outcome = Promise.withResolvers<unknown>()
      await using app = await runMulterApp({
        store,
        async handle([file]) {
          await gate.promise
          await file?.publish().then(outcome.resolve, outcome.resolve)
        },
      })
      using connection = await openConnection(app.port)
      const body = form(filePart('a.txt'))
      connection.write(request('POST', '/attachments', { 'Content-Type': formType }, body))
      await until('the file is staged', () => app.staged.length === 1)
      connection.reset()
      await expectNothing(store)
      gate.resolve(undefined)
      expect(await outcome.promise).to.have.property('message', 'The upload was discarded')
    })

    it('leaves nothing on a connection that lives on', async () => {
      const store = watchStore()
      const warnings: Error[] = []
      const note = (warning: Error) => void warnings.push(warning)
      process.on('warning', note)
      try {
        await using app = await runMulterApp({ store })
        for (let i = 0; i < 15; i++) {
          const response = await post(app.url, ['a.txt', `${i}`], ['b.txt', `${i}`])
          expect(await response.text()).to.equal('thanks')
        }
        expect(await app.connections()).to.be.lessThan(3)
      } finally {
        process.off('warning', note)
      }
      expect(warnings.map(({ name }) => name)).to.not.include('MaxListenersExceededWarning')
    })

    it('takes many files in one form', async () => {
      const store = watchStore()
      const warnings: Error[] = []
      const note = (warning: Error) => void warnings.push(warning)
      process.on('warning', note)
      try {
        await using app = await runMulterApp({ store, maxFiles: 40 })
        const many = Array.from({ length: 40 }, (_, i) => [`${i}.txt`, 'x'] as const)
        expect((await post(app.url, ...many)).status).to.equal(200)
      } finally {
        process.off('warning', note)
      }
      expect(await namesIn(store)).to.have.length(40)
      expect(warnings.map(({ name }) => name)).to.not.include('MaxListenersExceededWarning')
    })
  })
}
