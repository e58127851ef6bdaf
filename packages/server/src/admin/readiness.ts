import type { Logger } from 'pino'
import type { Check, CheckResult } from './check.ts'

/** The body of the response to `/ready`. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly checks: readonly (CheckResult & { readonly name: string })[]
}

/** Whether a server is to be sent requests. */
export interface Readiness {
  report(): Promise<ReadinessReport>
  /** It serves from now on, and is ready whenever all of these hold. */
  begin(checks: readonly Check[]): void
  /** It is about to end, and never ready again. */
  end(): void
}

/** The readiness of a server that is starting. A later change is logged at the next report. */
export function createReadiness(log: Logger): Readiness {
  const notServing = (why: string): readonly Check[] => [
    { name: 'serving', look: () => ({ ok: false, why }) },
  ]
  let checks = notServing('the server is starting')
  let wasReady = true

  const logChange = (ready: boolean, failed: readonly { readonly name: string }[]) => {
    if (ready === wasReady) return
    wasReady = ready
    if (ready) log.info('ready again')
    else log.warn({ failed }, 'not ready')
  }
  return {
    async report() {
      const asked = checks
      const results = await Promise.all(
        asked.map(async (check) => ({ name: check.name, ...(await check.look()) })),
      )
      // The server may have begun or ended to serve during the checks.
      if (asked !== checks) return this.report()
      const failed = results.filter(({ ok }) => !ok)
      const ready = failed.length === 0
      if (asked.some(({ name }) => name !== 'serving')) logChange(ready, failed)
      return { ready, checks: results }
    },
    begin(all) {
      checks = all
    },
    end() {
      checks = notServing('the server is stopping')
    },
  }
}
