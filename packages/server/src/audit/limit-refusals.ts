import type { AuditEvent } from '@holdfast/http-koa'

export interface RefusalLimit {
  /** Whether `event` gets a line; if not, it is counted. */
  readonly admit: (event: AuditEvent) => boolean
  /** Tells at once of what was counted, as at the end of a minute. */
  readonly flush: () => void
}

export interface RefusalLimitOptions {
  /** How many refused logins that cost the client nothing get a line in one minute. */
  readonly perWindow: number
  /** How long that minute is, in milliseconds. */
  readonly windowMs: number
  /** Told at its end how many did not, if there are any. */
  readonly onOmitted: (count: number) => void
}

/**
 * Bounds the lines of refused logins, which a stranger could otherwise write without end. Wrong passwords always get
 * theirs: each has cost a password hash, which bounds them, and they are what an auditor looks for. All other refusals
 * of logins cost nothing.
 */
export function createRefusalLimit({
  perWindow,
  windowMs,
  onOmitted,
}: RefusalLimitOptions): RefusalLimit {
  let admitted = 0
  let omitted = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    admitted = 0
    if (omitted > 0) onOmitted(omitted)
    omitted = 0
  }
  return {
    admit({ event, reason }) {
      if (event !== 'login' || reason === 'invalid-credentials') return true
      timer ??= setTimeout(flush, windowMs).unref()
      if (admitted < perWindow) return ++admitted > 0
      omitted++
      return false
    },
    flush,
  }
}
