import type { IncomingMessage } from 'node:http'
import type { HttpLog } from '../errors/log.ts'
import { knownExchange } from '../exchange/exchange.ts'
import type { Authenticate } from './authenticate.ts'

/** What became of a login. */
export interface LoginResult {
  readonly request: IncomingMessage
  /** Why the login was refused, or failed. Left out if it was accepted. */
  readonly error?: unknown
}

/** Called with each login once it is decided. */
export type OnLogin = (result: LoginResult) => void

/** `authenticate`, with every login reported to `onLogin`; what that throws is logged, and harms nothing else. */
export function reportLogins(
  authenticate: Authenticate,
  onLogin: OnLogin,
  log: HttpLog,
): Authenticate {
  const report = (result: LoginResult) => {
    try {
      onLogin(result)
    } catch (error) {
      const requestId = knownExchange(result.request)?.state.requestId
      log.error({ requestId, err: error }, 'onLogin failed')
    }
  }
  return async (request) => {
    try {
      const files = await authenticate(request)
      report({ request })
      return files
    } catch (error) {
      report({ request, error })
      throw error
    }
  }
}
