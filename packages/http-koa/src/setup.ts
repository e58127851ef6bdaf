import { createKeyedCounter, type FileLinks, type FileService } from '@holdfast/core'
import { createDraft, createTus, type Draft, type Tus } from '@holdfast/resumable'
import { createAuditRecorder, noRecorder, type AuditRecorder } from './audit/audit-recorder.ts'
import { createAddressOf, type AddressOf } from './address/address-of.ts'
import { createOriginOf, type OriginOf } from './address/origin-of.ts'
import { warnOfUnreadableHeaders } from './address/unreadable-headers.ts'
import { consoleLog, type HttpLog } from './errors/log.ts'
import type { Middleware } from 'koa'
import type { HoldfastState } from './exchange/holdfast-state.ts'
import { checkRouterOptions } from './check-router-options.ts'
import { createCors } from './middleware/cors.ts'
import { headerAuthentication, type Authenticate } from './middleware/authenticate.ts'
import { createRequestLimit, type TakePlace } from './middleware/limit-requests.ts'
import { reportLogins } from './middleware/report-logins.ts'
import type { PageFiles } from './page/page.ts'
import type { RouterOptions } from './router-options.ts'

/** What `createApp` and `createRouter` make of their options. */
export interface Setup {
  readonly service: FileService
  readonly prefix: string
  readonly log: HttpLog
  readonly addressOf: AddressOf
  readonly originOf: OriginOf
  /** `undefined` where no other origin is allowed. */
  readonly cors: Middleware<HoldfastState> | undefined
  readonly authenticate: Authenticate
  readonly takePlace: TakePlace
  readonly recorder: AuditRecorder
  /** `undefined` where there are none. */
  readonly links: FileLinks | undefined
  /** `undefined` where uploads cannot come in pieces. */
  readonly tus: Tus | undefined
  /** `undefined` unless it was asked for, and uploads can come in pieces. */
  readonly draft: Draft | undefined
  /** `undefined` where there is no page. */
  readonly web: (() => Promise<PageFiles>) | undefined
}

/** Fills in the defaults, and makes what the routes, the fast path and the reports share. */
export function createSetup(service: FileService, options: RouterOptions): Setup {
  checkRouterOptions(service, options)
  const { prefix = '', log = consoleLog, trustedProxies, audit } = options
  const { maxRequests = Infinity, maxRequestsPerCustomer = Infinity } = options
  const { resumable = true, resumableDraft = false, links = true } = options
  const { isResumable, maxFileSize } = service
  const { corsOrigins = [], requestCounter = createKeyedCounter() } = options
  const { isExempt = () => false } = options
  const onUnreadable = warnOfUnreadableHeaders(log)
  const addressOf = createAddressOf(trustedProxies, onUnreadable, (address) => {
    log.warn(
      { address },
      'X-Forwarded-For is not believed: if a proxy of yours sends it, trust that proxy, or all its clients count as one',
    )
  })
  const { authenticate = headerAuthentication(service, addressOf), onLogin } = options
  return {
    service,
    prefix,
    log,
    addressOf,
    originOf: createOriginOf(trustedProxies, onUnreadable),
    authenticate: onLogin ? reportLogins(authenticate, onLogin, log) : authenticate,
    takePlace: createRequestLimit({
      maxRequests,
      maxRequestsPerCustomer,
      isExempt,
      requestCounter,
    }),
    recorder: audit ? createAuditRecorder(audit, addressOf) : noRecorder,
    cors: corsOrigins.length > 0 ? createCors(corsOrigins) : undefined,
    links: links ? service.links : undefined,
    tus: resumable && isResumable ? createTus({ maxFileSize }) : undefined,
    web: options.web,
    draft: resumableDraft && isResumable ? createDraft({ maxFileSize }) : undefined,
  }
}
