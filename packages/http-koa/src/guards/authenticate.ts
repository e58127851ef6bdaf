import type { IncomingMessage } from 'node:http'
import { FileServiceError, type CustomerFiles, type FileService } from '@holdfast/core'
import type { Middleware } from 'koa'
import { decodeHeaderText, headerValues } from '../http/text.ts'
import { leavingSignal } from '../server/connection.ts'
import { exchangeIn, knownExchange, type Exchange, type HoldfastState } from '../server/exchange.ts'
import { createAddressOf, networkOf, type AddressOf } from './address-of.ts'
import { noRecorder, type AuditRecorder } from './audit.ts'
import type { HttpLog } from './errors.ts'

/**
 * Finds out who sent a request: the files of that customer, or a rejection. A `FileServiceError` is answered as any other;
 * an `HttpProblem` has a status and words of the application's own, such as 401 where a session has ended.
 */
export type Authenticate = (request: IncomingMessage) => Promise<CustomerFiles>

/**
 * Authenticates by the headers `x-auth-name` and `x-auth-password`, in UTF-8, each exactly once. `addressOf` gives the
 * service's brake on bad logins the address of a request. Default: the other end of the connection. The brake takes an
 * IPv6 network of 64 bits as one address. A login of a client that has left stops waiting.
 */
export function headerAuthentication(
  service: FileService,
  addressOf: AddressOf = createAddressOf(),
): Authenticate {
  // Async, so that what is wrong with the headers is a rejection, too.
  return async (request) => {
    const name = soleHeader(request, 'x-auth-name')
    const password = soleHeader(request, 'x-auth-password')
    if (name === '' && password === '' && request.headers.authorization !== undefined) {
      throw otherHeaders()
    }
    const address = networkOf(addressOf(request))
    const signal = leavingSignal(request.socket)
    return await service.authenticate({ name, password, address, signal })
  }
}

/** As of `curl -u`. The client gets the answer of every request without credentials; the log says why. */
function otherHeaders(): FileServiceError {
  return new FileServiceError(
    'missing-credentials',
    'Authorization is not read: the name goes into x-auth-name, and the password into x-auth-password',
  )
}

/** Who sent the request; asks `authenticate` only once, since a failed login counts. */
export function logIn(exchange: Exchange, authenticate: Authenticate): Promise<CustomerFiles> {
  if (exchange.login?.by !== authenticate) {
    exchange.login = { by: authenticate, files: authenticate(exchange.request) }
  }
  return exchange.login.files
}

/**
 * Refuses requests that no customer has sent, and puts the customer's files into `ctx.state.files`. Refused logins go
 * to `recorder`. Default: they are not recorded.
 */
export function createAuthentication(
  authenticate: Authenticate,
  recorder: AuditRecorder = noRecorder,
): Middleware<HoldfastState> {
  const login = createLogin(authenticate, recorder)
  return async (ctx, next) => {
    ctx.state.files = await login(exchangeIn(ctx))
    await next()
  }
}

/** {@link logIn} by `authenticate`; a refused login goes to `recorder` before the client learns of it. */
export function createLogin(
  authenticate: Authenticate,
  recorder: AuditRecorder,
): (exchange: Exchange) => Promise<CustomerFiles> {
  return async (exchange) => {
    const record = recorder(exchange)
    try {
      return await logIn(exchange, authenticate)
    } catch (error) {
      await record('login', { customer: presentedName(exchange.request) }, { error })
      throw error
    }
  }
}

/** The name that the client claims. */
function presentedName(request: IncomingMessage): string | undefined {
  const names = headerValues(request, 'x-auth-name')
  return names.length === 0 ? undefined : decodeHeaderText(names.join(', '))
}

/**
 * Empty if the header is missing. A header that is sent twice is refused: the joined values could be another customer's.
 */
function soleHeader(request: IncomingMessage, header: string): string {
  const values = headerValues(request, header)
  if (values.length > 1)
    throw new FileServiceError('missing-credentials', `${header} is sent twice`)
  return decodeHeaderText(values[0] ?? '')
}

/** The files of the customer who sent the request; only after the middleware above. */
export function filesOf(state: HoldfastState): CustomerFiles {
  if (state.files === undefined) throw new TypeError('The route is not behind authentication')
  return state.files
}

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
