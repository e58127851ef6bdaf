import type { FileService } from '@holdfast/core'
import {
  having,
  requireCount,
  requireFlag,
  requireFunction,
  requireOptions,
  requireTexts,
} from '@holdfast/core'
import { requirePath } from '@holdfast/resumable'
import type { RouterOptions } from './router-options.ts'

/**
 * Refuses a service and options that an application in JavaScript, or one that casts, gets wrong: later the same mistakes would
 * answer 404 or 500 to all requests.
 *
 * @throws TypeError or RangeError that names what is missing or wrong
 */
export function checkRouterOptions(service: FileService, options: RouterOptions): void {
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
