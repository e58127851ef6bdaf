import { readFile } from 'node:fs/promises'
import { createFileService, createLoginBrake } from '@holdfast/core'
import { createMemoryCredentialSource, createMemoryFailureCounter } from '@holdfast/core/memory'
import { createHttpServer, createRouter, HttpProblem } from '@holdfast/http-koa'
import { createPasswordVerifier, hashPassword } from '@holdfast/passwords'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { Router } from '@koa/router'
import Koa from 'koa'
import { createActivity } from './activity.ts'
import { addLogin } from './login.ts'
import { sameOriginOnly } from './same-origin.ts'
import { createSessions } from './sessions.ts'

const { PORT = '3000', DATA = './data', USERS = 'alice:wonderland bob:builder' } = process.env

// Yours come out of a database, with their hashes: see the example postgres-customers.
const users = USERS.split(' ').map(async (user) => {
  const [name = '', password = ''] = user.split(':')
  return { name, passwordHash: await hashPassword(password) }
})

const activity = createActivity()
const store = await openDiskBlobStore({ directory: DATA })
const service = createFileService({
  store,
  credentials: createMemoryCredentialSource(await Promise.all(users)),
  verifyPassword: createPasswordVerifier(),
  loginBrake: createLoginBrake({ counter: createMemoryFailureCounter({ windowMs: 60_000 }) }),
  hooks: {
    onUploaded: ({ customer, file }) => activity.note(customer.name, `stored ${file.name}`),
    onServed: ({ customer, file, bytes }) =>
      activity.note(customer.name, `read ${bytes} of ${file.size} bytes of ${file.name}`),
    onDeleted: ({ customer, name }) => activity.note(customer.name, `deleted ${name}`),
  },
})

const sessions = createSessions()
const files = createRouter(service, {
  prefix: '/files',
  log: console,
  async authenticate(request) {
    const user = sessions.userOf(request)
    if (user === undefined) throw new HttpProblem('no-session', 401, 'Log in first')
    return service.filesOf({ ...user, quota: 1e9 })
  },
})

const pages = new Router()
const page = await readFile(new URL('page.html', import.meta.url), 'utf8')
addLogin(pages, service, sessions)
pages.get('/', (ctx) => {
  ctx.type = 'html'
  ctx.body = page
})
pages.get('/activity', (ctx) => {
  const { name } = sessions.userOf(ctx.req) ?? ctx.throw(401)
  ctx.body = activity.of(name)
})

const app = new Koa()
app.use(sameOriginOnly)
app.use(files.routes())
app.use(pages.routes())

const server = createHttpServer(app)
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : PORT
  console.log(`Listening on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => server.close(() => void store.close()))
