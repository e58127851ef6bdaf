import type { Audit, HttpLog, AuditEvent } from '@holdfast/http-koa'
import {
  explainTrail,
  openTrailFile,
  type TrailFile,
  type TrailFileEvents,
  formatEvent,
  formatOmission,
} from './open-trail-file.ts'
import { createLineLimit, type LineLimitOptions } from '../log/lines.ts'

/** The audit trail of a server: one line for each event, in the format of docs/audit.md. */
export interface AuditTrail {
  /** Resolves when the system has taken the event's line; never rejects. */
  readonly audit: Audit
  /** Opens the file again, after it was rotated; resolves with `false` if that was impossible. */
  reload(): Promise<boolean>
  close(): Promise<void>
}

/** How many refusals that cost the client nothing get a line within one minute. */
const refusalsPerMinute = 100

const minuteMs = 60_000

/**
 * Opens the audit trail in the file `path`; `-` is standard output; see `openAppendable`. Later failures are logged at most once a
 * minute, and do not stop the service. `onReload` is called whenever the file was opened again, or could not be.
 *
 * @throws SetupError that names the file and the remedy
 */
export async function openAuditTrail(
  path: string,
  log: HttpLog,
  onReload: (isTaken: boolean) => void = () => {},
): Promise<AuditTrail> {
  const file = await openTrailFile(path, reportTo(log)).catch((error: unknown) => {
    throw explainTrail(error, path)
  })
  return createAuditTrail(file, onReload)
}

function createAuditTrail(file: TrailFile, onReload: (isTaken: boolean) => void): AuditTrail {
  const limit = createRefusalLimit({
    perWindow: refusalsPerMinute,
    windowMs: minuteMs,
    onOmitted: (count) => void file.write(formatOmission(new Date(), 'too-many', count)),
  })
  return {
    async audit(event) {
      if (limit.admit(event)) await file.write(formatEvent(event))
    },
    async reload() {
      const isTaken = await file.reopen()
      onReload(isTaken)
      return isTaken
    },
    close() {
      limit.flush()
      return file.close()
    },
  }
}

function reportTo(log: HttpLog): TrailFileEvents {
  let loggedAt = -Infinity
  return {
    onFailure(error, lost) {
      const now = performance.now()
      if (now - loggedAt < minuteMs) return
      loggedAt = now
      log.error({ err: error, lost }, 'The audit trail cannot be written; the service continues')
    },
    onRecovery(lost) {
      loggedAt = -Infinity
      log.warn({ lost }, 'The audit trail is written again; it records how many lines are missing')
    },
  }
}

interface RefusalLimit {
  /** Whether `event` gets a line; if not, it is counted. */
  readonly admit: (event: AuditEvent) => boolean
  /** Reports at once what was counted, as at the end of a minute. */
  readonly flush: () => void
}

/**
 * Limits the lines of refused logins and of refused uses of links: otherwise any client could fill the trail. Wrong passwords always
 * get a line: each has cost a password hash, which limits their number, and auditors look for them. All other refusals of logins
 * cost nothing.
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
