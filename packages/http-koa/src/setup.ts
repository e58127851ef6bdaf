import { createKeyedCounter, type FileService } from '@holdfast/core'
import { createDraft, createTus, type Draft, type Tus } from '@holdfast/resumable'
import { createAuditRecorder, noRecorder, type AuditRecorder } from './audit/audit-recorder.ts'
import { createAddressOf, type AddressOf } from './address/address-of.ts'
import { noLog, type HttpLog } from './errors/log.ts'
import { headerAuthentication, type Authenticate } from './middleware/authenticate.ts'
import { createRequestLimit, type TakePlace } from './middleware/limit-requests.ts'
import { reportLogins } from './middleware/report-logins.ts'
import type { RouterOptions } from './router-options.ts'

/** What `createApp` and `createRouter` make of their options. */
export interface Setup {
  readonly prefix: string
  readonly log: HttpLog
  readonly addressOf: AddressOf
  readonly authenticate: Authenticate
  readonly takePlace: TakePlace
  readonly recorder: AuditRecorder
  /** `undefined` where uploads cannot come in pieces. */
  readonly tus: Tus | undefined
  /** `undefined` unless it was asked for, and uploads can come in pieces. */
  readonly draft: Draft | undefined
}

/** Fills in the defaults, and makes what the routes, the fast path and the reports share. */
export function createSetup(service: FileService, options: RouterOptions): Setup {
  const { prefix = '', log = noLog, trustedProxies, audit } = options
  const { maxRequests = Infinity, maxRequestsPerCustomer = Infinity } = options
  const { resumable = true, resumableDraft = false } = options
  const { isResumable, maxFileSize } = service
  const { requestCounter = createKeyedCounter() } = options
  const addressOf = createAddressOf(trustedProxies)
  const { authenticate = headerAuthentication(service, addressOf), onLogin } = options
  return {
    prefix,
    log,
    addressOf,
    authenticate: onLogin ? reportLogins(authenticate, onLogin, log) : authenticate,
    takePlace: createRequestLimit({ maxRequests, maxRequestsPerCustomer, requestCounter }),
    recorder: audit ? createAuditRecorder(audit, addressOf) : noRecorder,
    tus: resumable && isResumable ? createTus({ maxFileSize }) : undefined,
    draft: resumableDraft && isResumable ? createDraft({ maxFileSize }) : undefined,
  }
}
