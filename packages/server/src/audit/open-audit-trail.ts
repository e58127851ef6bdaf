import type { Audit, HttpLog } from '@holdfast/http-koa'
import { explainTrail } from './explain-trail.ts'
import { formatEvent, formatOmission } from './format-event.ts'
import { createRefusalLimit } from './limit-refusals.ts'
import { openTrailFile, type TrailFile, type TrailFileEvents } from './open-trail-file.ts'

/** The audit trail of a server: one line for each event, in the format of docs/audit.md. */
export interface AuditTrail {
  /** Resolves when the system has taken the event's line; never rejects. */
  readonly audit: Audit
  /** Opens the file anew, for whoever rotates it; `false` if that was impossible. */
  reload(): Promise<boolean>
  close(): Promise<void>
}

/** How many refused logins that cost the client nothing get a line in one minute. */
const refusalsPerMinute = 100

const minuteMs = 60_000

/**
 * Opens the audit trail in the file `path`; `-` is standard output; see `openAppendable`. Later trouble with it is told
 * to `log`, once a minute at most, and does not stop the service.
 *
 * @throws SetupError that names the file and the remedy
 */
export async function openAuditTrail(path: string, log: HttpLog): Promise<AuditTrail> {
  const file = await openTrailFile(path, tellOf(log)).catch((error: unknown) => {
    throw explainTrail(error, path)
  })
  return createAuditTrail(file)
}

function createAuditTrail(file: TrailFile): AuditTrail {
  const limit = createRefusalLimit({
    perWindow: refusalsPerMinute,
    windowMs: minuteMs,
    onOmitted: (count) => void file.write(formatOmission(new Date(), 'too-many', count)),
  })
  return {
    async audit(event) {
      if (limit.admit(event)) await file.write(formatEvent(event))
    },
    reload: () => file.reopen(),
    close() {
      limit.flush()
      return file.close()
    },
  }
}

function tellOf(log: HttpLog): TrailFileEvents {
  let toldAt = -Infinity
  return {
    onFailure(error, lost) {
      const now = performance.now()
      if (now - toldAt < minuteMs) return
      toldAt = now
      log.error({ err: error, lost }, 'The audit trail cannot be written; the service goes on')
    },
    onRecovery(lost) {
      toldAt = -Infinity
      log.warn({ lost }, 'The audit trail is written again, and says how many lines are missing')
    },
  }
}
