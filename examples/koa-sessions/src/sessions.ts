import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Customer } from '@holdfast/core'

/** How long a session lasts, in milliseconds. */
export const lifetimeMs = 8 * 60 * 60 * 1000

/** Who is logged in. */
export interface Sessions {
  /** Begins a session. Gives its id, which is as good as a password, and the value of the cookie. */
  begin(user: Customer): string
  /**
   * Whose session the cookie of `request` names; `undefined` where it names none. With the rights that the user had at the login:
   * by the name alone, a further login such as `alice/backup` would get all rights of `alice`.
   */
  userOf(request: IncomingMessage): Customer | undefined
  end(request: IncomingMessage): void
}

/**
 * Sessions in the memory of this process: a restart ends them all. Ids are 256 random bits, which no one can guess,
 * so that they need no signature.
 */
export function createSessions(now: () => number = Date.now): Sessions {
  const sessions = new Map<string, { readonly user: Customer; readonly endsAt: number }>()

  const forgetEnded = () => {
    for (const [id, { endsAt }] of sessions) {
      // All last as long as each other, so those that began first end first.
      if (endsAt > now()) return
      sessions.delete(id)
    }
  }

  return {
    begin(user) {
      forgetEnded()
      const id = randomBytes(32).toString('base64url')
      sessions.set(id, { user, endsAt: now() + lifetimeMs })
      return id
    },
    userOf(request) {
      const session = sessions.get(idOf(request))
      return session && session.endsAt > now() ? session.user : undefined
    },
    end: (request) => void sessions.delete(idOf(request)),
  }
}

function idOf({ headers }: IncomingMessage): string {
  return /(?:^|; )session=([\w-]{43})(?:;|$)/.exec(headers.cookie ?? '')?.[1] ?? ''
}
