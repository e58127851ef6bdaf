import type { RequestHandler } from 'express'

declare global {
  namespace Express {
    interface Request {
      /** Who sent the request. */
      user: string
    }
  }
}

const { TOKENS = 'alice:wonderland bob:builder' } = process.env

/** By token, as this application always knew them. */
const users = new Map(
  TOKENS.split(' ').map((pair) => {
    const [user = '', token = ''] = pair.split(':')
    return [`Bearer ${token}`, user]
  }),
)

/** Lets only users pass, whose name is in `request.user` from then on. */
export const knowUsers: RequestHandler = (request, response, next) => {
  const user = users.get(request.get('Authorization') ?? '')
  if (user === undefined) {
    response.status(401).set('WWW-Authenticate', 'Bearer').json({ message: 'Who are you?' })
    return
  }
  request.user = user
  next()
}
