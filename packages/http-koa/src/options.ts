import {
  createKeyedCounter,
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
import {
  headerAuthentication,
  reportLogins,
  type Authenticate,
  type OnLogin,
} from './guards/authenticate.ts'
import { createCors } from './guards/cors.ts'
import { createRequestLimit, type RequestCounter, type TakeSlot } from './guards/enter.ts'
import { consoleLog, type HttpLog } from './guards/errors.ts'
import type { PageFiles } from './links/page.ts'
import type { HoldfastState, OnAnswered } from './server/exchange.ts'

export interface RouterOptions {
  /** A path before all routes, such as `/files`, with no slash at its end. Default: none. */
  readonly prefix?: string
  /** Who sent a request. Default: by the headers `x-auth-name` and `x-auth-password`. */
  readonly authenticate?: Authenticate
  /**
   * Addresses and subnets of proxies whose `X-Forwarded-For` is believed, for the brake on bad logins and the log, and whose
   * `X-Forwarded-Proto`, `-Host` and `-Prefix` are, for the URLs of links. `Forwarded` is not read. The `log` gets one warning for
   * each header that cannot be read.
   * Without them all clients of a proxy are one to the brake. Default: none.
   */
  readonly trustedProxies?: readonly string[]
  /**
   * How many requests of customers and by links may be under way at a time, downloads included; the next one is refused with
   * 503, before its body is read. Logins that wait use up no slots; how many do is bounded by the service's brake on bad
   * logins, or else by your `authenticate`. At most half of them are by links, and an eighth of that half from one address or IPv6
   * network of 64 bits. Default: no limit.
   */
  readonly maxRequests?: number
  /** The same for one customer, and once more for the customer's links. */
  readonly maxRequestsPerCustomer?: number
  /**
   * Whether an address, as in `192.0.2.1` or `2001:db8::/64`, may have more requests by links under way than others: that of an office, or
   * of a proxy whose `X-Forwarded-For` is not believed. Default: none.
   */
  readonly isExempt?: (address: string) => boolean
  /**
   * Where the requests under way are counted by key, so that several processes can count together: all under the empty key, those of a
   * customer under the name, and those by links under keys with a slash. Default: in this process.
   */
  readonly requestCounter?: RequestCounter
  /**
   * Origins, such as `https://app.example.com`, whose scripts may use the service from a browser, or `*` for all. They log in by
   * the headers as everyone does; a browser never adds cookies. Default: none.
   */
  readonly corsOrigins?: readonly string[]
  /** Whether there are links. Default: yes, where the service has them. */
  readonly links?: boolean
  /** Whether there is `/resumable`, for uploads by tus. Default: yes, where the store keeps uploads in pieces. */
  readonly resumable?: boolean
  /**
   * Whether clients may go on with uploads as the IETF's draft "Resumable Uploads for HTTP" has it, by `Upload-Complete`
   * on `PUT /upload/:filename` and `POST /upload`. It changes until it is an RFC. Default: no.
   */
  readonly resumableDraft?: boolean
  /**
   * Opens the page that browsers get at `/`, such as `openPage` of `@holdfast/web`; called when it is first asked for.
   * Default: there is no page.
   */
  readonly web?: () => Promise<PageFiles>
  /** Default: `console.error` gets the causes of answers with 500, 503 and 507, and nothing else is logged. */
  readonly log?: HttpLog
  /**
   * Called with each request once its answer has been sent or cut off, for figures and traces. A router
   * in an application of yours reports the requests for its own paths only. Default: none are reported.
   */
  readonly onAnswered?: OnAnswered
  /**
   * Called with the result of each login as soon as it is known, for figures; there is one login for each request of a
   * customer. Default: none are reported.
   */
  readonly onLogin?: OnLogin
  /** Called with every upload, deletion and refused login, before the client learns of it; see `Audit`. Default: not called. */
  readonly audit?: Audit
}

/**
 * Refuses a service and options that an application in JavaScript, or one that casts, gets wrong: later the same mistakes would
 * answer 404 or 500 to all requests.
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
    'requestCounter?': having('count', 'change'),
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
}

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
  readonly takeSlot: TakeSlot
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
    takeSlot: createRequestLimit({
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
