import type { AuditEvent } from '@holdfast/http-koa'
import { createLineLimit, type LineLimitOptions } from '../log/limit-lines.ts'

export interface RefusalLimit {
  /** Whether `event` gets a line; if not, it is counted. */
  readonly admit: (event: AuditEvent) => boolean
  /** Reports at once what was counted, as at the end of a minute. */
  readonly flush: () => void
}

/**
 * Bounds the lines of refused logins, and of what was refused by links, which a stranger could otherwise write without end. Wrong passwords always get
 * theirs: each has cost a password hash, which bounds them, and they are what an auditor looks for. All other refusals
 * of logins cost nothing.
 */
export function createRefusalLimit(options: LineLimitOptions): RefusalLimit {
  const { admit, flush } = createLineLimit(options)
  return {
    admit: (event) => !isCheap(event) || admit(),
    flush,
  }
}

function isCheap({ event, outcome, reason, isByLink }: AuditEvent): boolean {
  if (event === 'download' || isByLink === true) return outcome !== 'ok'
  return event === 'login' && reason !== 'invalid-credentials'
}
