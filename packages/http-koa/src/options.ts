import {
  having,
  requireCount,
  requireFlag,
  requireFunction,
  requireOptions,
  requireTexts,
  type FileLinks,
  type FileService,
} from '@holdfast/core'
import { createDraft, createTus, requirePath, type Draft, type Tus } from '@holdfast/resumable'
import type { Middleware } from 'koa'
import {
  createAddressOf,
  createOriginOf,
  warnOfUnreadableHeaders,
  type AddressOf,
  type OriginOf,
} from './guards/address-of.ts'
import { createAuditRecorder, noRecorder, type Audit, type AuditRecorder } from './guards/audit.ts'
import { createCors } from './guards/cors.ts'
import {
  headerAuthentication,
  reportLogins,
  type Authenticate,
  type OnLogin,
  createRequestCounters,
  createRequestLimit,
  type RequestCounters,
  type TakeSlot,
} from './guards/enter.ts'
import { consoleLog, type HttpLog } from './guards/errors.ts'
import type { PageFiles } from './links/page.ts'
import type { HoldfastState, OnAnswered } from './server/exchange.ts'

export interface RouterOptions {
  /** A path before all routes, such as `/files`, with no slash at its end. Default: none. */
  readonly prefix?: string
  /** Finds out who sent a request. Default: by the headers `x-auth-name` and `x-auth-password`. */
  readonly authenticate?: Authenticate
  /**
   * Addresses and subnets of trusted proxies. Their `X-Forwarded-For` gives the client's address to the brake on bad logins and
   * to the log; their `X-Forwarded-Proto`, `-Host` and `-Prefix` give the URLs of links. `Forwarded` is not read. The `log` gets
   * one warning for each header that cannot be read. The brake counts all clients of a proxy that is not listed as one client.
   * Default: none.
   */
  readonly trustedProxies?: readonly string[]
  /**
   * How many requests of customers and by links may be under way at a time, downloads included. The next one is refused with
   * 503 before its body is read. At most half of these requests are by links, and at most an eighth of that half come from one
   * address or IPv6 network of 64 bits. Waiting logins do not count: the service's brake on bad logins limits them, or else your
   * `authenticate` does. Default: no limit.
   */
  readonly maxRequests?: number
  /** The same limit for each customer, and separately for the links of each customer. */
  readonly maxRequestsPerCustomer?: number
  /**
   * Whether an address, as in `192.0.2.1` or `2001:db8::/64`, may have more requests by links under way than others: that of an office, or
   * of a proxy whose `X-Forwarded-For` is not believed. Default: none.
   */
  readonly isExempt?: (address: string) => boolean
  /** Counts the requests under way, so that several processes can share the limits. Default: counts in this process. */
  readonly requestCounters?: RequestCounters
  /**
   * Origins, such as `https://app.example.com`, whose scripts may use the service from a browser, or `*` for all. The scripts log
   * in by the headers, as every client does; a browser never adds cookies. Default: none.
   */
  readonly corsOrigins?: readonly string[]
  /** Whether customers can make links. Default: yes, where the service has links. */
  readonly links?: boolean
  /** Whether there is `/resumable`, for uploads by tus. Default: yes, where the store keeps uploads in pieces. */
  readonly resumable?: boolean
  /**
   * Whether clients may resume uploads by the IETF's draft "Resumable Uploads for HTTP", with `Upload-Complete` on
   * `PUT /upload/:filename` and `POST /upload`. The draft changes until it is an RFC. Default: no.
   */
  readonly resumableDraft?: boolean
  /**
   * Opens the page that browsers get at `/`, such as `openPage` of `@holdfast/web`; called at the first request for the page.
   * Default: there is no page.
   */
  readonly web?: () => Promise<PageFiles>
  /** Default: only the causes of answers with 500, 503 and 507 are logged, by `console.error`. */
  readonly log?: HttpLog
  /**
   * Called with each request after its answer was sent or cut off, for metrics and traces. A router in your own application
   * reports the requests for its own paths only. Default: none are reported.
   */
  readonly onAnswered?: OnAnswered
  /**
   * Called with the result of each login as soon as it is known, for metrics; each request of a customer is one login.
   * Default: none are reported.
   */
  readonly onLogin?: OnLogin
  /** Called with every change of files and links, and every refused login, before the client learns of it; see `Audit`. Default: not called. */
  readonly audit?: Audit
}

/**
 * Refuses a wrong service and wrong options at once, for applications in JavaScript and those that cast: later such a mistake
 * would make all requests fail with 404 or 500.
 *
 * @throws TypeError or RangeError that names what is missing or wrong
 */
function checkRouterOptions(service: FileService, options: RouterOptions): void {
  having('authenticate', 'filesOf', 'sweepUploads')('The service', service)
  requireOptions('createRouter(service, { prefix })', options, {
    'prefix?': requirePath,
    'authenticate?': requireFunction,
    'trustedProxies?': requireTexts,
    'maxRequests?': (what, value) => requireCount(what, value, 'requests'),
    'maxRequestsPerCustomer?': (what, value) => requireCount(what, value, 'requests'),
    'isExempt?': requireFunction,
    'requestCounters?': having(),
    'corsOrigins?': requireTexts,
    'links?': requireFlag,
    'resumable?': requireFlag,
    'resumableDraft?': requireFlag,
    'web?': requireFunction,
    'log?': having('info', 'warn', 'error'),
    'onAnswered?': requireFunction,
    'onLogin?': requireFunction,
    'audit?': requireFunction,
  })
  if (options.requestCounters === undefined) return
  const counting = having('count', 'change')
  requireOptions('createRequestCounters()', options.requestCounters, {
    all: counting,
    byLinks: counting,
    perCustomer: counting,
    byLinksPerCustomer: counting,
    byLinksPerNetwork: counting,
  })
}

/** The options of `createApp` and `createRouter` with their defaults, and the objects made from them. */
export interface Setup {
  readonly service: FileService
  readonly prefix: string
  readonly log: HttpLog
  readonly addressOf: AddressOf
  readonly originOf: OriginOf
  /** `undefined` where no other origin is allowed. */
  readonly cors: Middleware<HoldfastState> | undefined
  readonly authenticate: Authenticate
  readonly takeSlot: TakeSlot
  readonly recorder: AuditRecorder
  /** `undefined` where there are no links. */
  readonly links: FileLinks | undefined
  /** `undefined` where uploads cannot come in pieces. */
  readonly tus: Tus | undefined
  /** `undefined` unless the option asks for it and uploads can come in pieces. */
  readonly draft: Draft | undefined
  /** `undefined` where there is no page. */
  readonly web: (() => Promise<PageFiles>) | undefined
}

/** Fills in the defaults, and makes the objects that the routes, the fast path and the reports share. */
export function createSetup(service: FileService, options: RouterOptions): Setup {
  checkRouterOptions(service, options)
  const { prefix = '', log = consoleLog, trustedProxies, audit } = options
  const { maxRequests = Infinity, maxRequestsPerCustomer = Infinity } = options
  const { resumable = true, resumableDraft = false, links = true } = options
  const { isResumable, maxFileSize } = service
  const { corsOrigins = [], requestCounters = createRequestCounters() } = options
  const { isExempt = () => false } = options
  const onUnreadable = warnOfUnreadableHeaders(log)
  const addressOf = createAddressOf(trustedProxies, onUnreadable, (address) => {
    log.warn(
      { address },
      'X-Forwarded-For of an untrusted peer is ignored: if the peer is your proxy, trust it, or all its clients count as one',
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
    takeSlot: createRequestLimit({
      maxRequests,
      maxRequestsPerCustomer,
      isExempt,
      requestCounters,
    }),
    recorder: audit ? createAuditRecorder(audit, addressOf) : noRecorder,
    cors: corsOrigins.length > 0 ? createCors(corsOrigins) : undefined,
    links: links ? service.links : undefined,
    tus: resumable && isResumable ? createTus({ maxFileSize }) : undefined,
    web: options.web,
    draft: resumableDraft && isResumable ? createDraft({ maxFileSize }) : undefined,
  }
}
