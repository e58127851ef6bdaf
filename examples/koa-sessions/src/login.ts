import { isFileServiceError, type FileService } from '@holdfast/core'
import { HttpProblem, toProblem } from '@holdfast/http-koa'
import { bodyParser } from '@koa/bodyparser'
import type { Router } from '@koa/router'
import { lifetimeMs, type Sessions } from './sessions.ts'

/** `POST /login` with JSON, `{"name": …, "password": …}`, and `POST /logout`. Both answer 204. */
export function addLogin(router: Router, service: FileService, sessions: Sessions): void {
  // On this route alone: a parser before the routes of holdfast would eat the files.
  router.post('/login', bodyParser({ enableTypes: ['json'] }), async (ctx) => {
    const { name, password } = credentialsIn(ctx.request.body)
    try {
      const { customer } = await service.authenticate({ name, password, address: ctx.ip })
      ctx.cookies.set('session', sessions.begin(customer), {
        httpOnly: true,
        sameSite: 'lax',
        secure: ctx.secure,
        maxAge: lifetimeMs,
      })
      ctx.status = 204
    } catch (error) {
      if (isFileServiceError(error, 'invalid-credentials'))
        throw new HttpProblem('invalid-credentials', 401, 'Wrong name or password')
      throw toProblem(error)
    }
  })

  router.post('/logout', (ctx) => {
    sessions.end(ctx.req)
    ctx.cookies.set('session', null)
    ctx.status = 204
  })
}

function credentialsIn(body: unknown): { name: string; password: string } {
  const { name, password } = Object(body) as { name?: unknown; password?: unknown }
  return {
    name: typeof name === 'string' ? name : '',
    password: typeof password === 'string' ? password : '',
  }
}
