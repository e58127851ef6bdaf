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
 * Finds out who sent a request: resolves with the files of that customer, or rejects. A rejection with a `FileServiceError` is
 * answered by its code; one with an `HttpProblem` has the application's own status and message, such as 401 for an ended session.
 */
export type Authenticate = (request: IncomingMessage) => Promise<CustomerFiles>

/**
 * Authenticates by the headers `x-auth-name` and `x-auth-password`, in UTF-8, each exactly once. `addressOf` gives the address
 * of a request to the service's brake on bad logins. Default: the address of the connection's peer. For the brake, an IPv6
 * network of 64 bits is one address. A login stops waiting when its client leaves.
 */
export function headerAuthentication(
  service: FileService,
  addressOf: AddressOf = createAddressOf(),
): Authenticate {
  // Async, so that wrong headers cause a rejection, too.
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

/** The error for `Authorization`, as `curl -u` sends it. The client gets the usual 401; only the log has this message. */
function otherHeaders(): FileServiceError {
  return new FileServiceError(
    'missing-credentials',
    'Authorization is not read: the name goes into x-auth-name, and the password into x-auth-password',
  )
}

/** The files of the customer who sent the request. Calls `authenticate` only once for each request, since failed logins count. */
export function logIn(exchange: Exchange, authenticate: Authenticate): Promise<CustomerFiles> {
  if (exchange.login?.by !== authenticate) {
    exchange.login = { by: authenticate, files: authenticate(exchange.request) }
  }
  return exchange.login.files
}

/**
 * Refuses requests that are not from a customer, and puts the customer's files into `ctx.state.files`. Refused logins are
 * recorded by `recorder`. Default: they are not recorded.
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

/** {@link logIn} by `authenticate`. Records a refused login by `recorder` before it rejects. */
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

/** The customer's name that the client has sent. */
function presentedName(request: IncomingMessage): string | undefined {
  const names = headerValues(request, 'x-auth-name')
  return names.length === 0 ? undefined : decodeHeaderText(names.join(', '))
}

/**
 * The value of `header`; empty if it is missing. A header that is sent twice is refused: the joined values could be the name of
 * another customer.
 */
function soleHeader(request: IncomingMessage, header: string): string {
  const values = headerValues(request, header)
  if (values.length > 1)
    throw new FileServiceError('missing-credentials', `${header} is sent twice`)
  return decodeHeaderText(values[0] ?? '')
}

/** The files of the customer who sent the request, or whose link let it in. Call this after authentication only. */
export function filesOf(state: HoldfastState): CustomerFiles {
  if (state.files === undefined) throw new TypeError('The route is not behind authentication')
  return state.files
}

/** The result of a login. */
export interface LoginResult {
  readonly request: IncomingMessage
  /** Why the login was refused, or failed. Left out if it was accepted. */
  readonly error?: unknown
}

/** Called with each login once it is decided. */
export type OnLogin = (result: LoginResult) => void

/** `authenticate`, which then also reports every login to `onLogin`. An error that `onLogin` throws is only logged. */
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
