/**
 * The application of holdfast with two more paths: `/plain`, which is `/ping`, and `/authenticated`, which is `/ping`
 * behind the authentication. PORT, and CUSTOMERS, the path of a customers file, come from the environment.
 */
import { createFileService, createLoginBrake } from '../../../packages/core/dist/index.js'
import { createMemoryBlobStore } from '../../../packages/core/src/memory/index.ts'
import {
  createPasswordVerifier,
  openFileCredentialSource,
} from '../../../packages/credentials-file/dist/index.js'
import {
  createApp,
  createAuthentication,
  createHttpServer,
  headerAuthentication,
} from '../../../packages/http-koa/dist/index.js'
import { createLoginFailureCounter } from '../../../packages/server/src/login-failure-counter.ts'

const { PORT, CUSTOMERS = '' } = process.env
const service = createFileService({
  store: createMemoryBlobStore(),
  credentials: await openFileCredentialSource(CUSTOMERS),
  verifyPassword: createPasswordVerifier(),
  loginBrake: createLoginBrake({ counter: createLoginFailureCounter(60_000) }),
})
const authenticated = createAuthentication(headerAuthentication(service))
const app = createApp(service)

// Right before the router and what answers behind it, so that all goes the way that requests for files go.
app.middleware.splice(-2, 0, async (ctx, next) => {
  const { path } = ctx
  if (path === '/plain' || path === '/authenticated') ctx.path = '/ping'
  await (path === '/authenticated' ? authenticated(ctx, next) : next())
})
createHttpServer(app).listen(Number(PORT), '127.0.0.1')
