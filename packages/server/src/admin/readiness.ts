import type { Logger } from 'pino'
import type { Check, CheckResult } from './check.ts'

/** The word on a server, in the form that `/ready` tells it. */
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

/** The readiness of a server that is starting. What changes later is told to the log, when somebody asks. */
export function createReadiness(log: Logger): Readiness {
  const notServing = (why: string): readonly Check[] => [
    { name: 'serving', look: () => ({ ok: false, why }) },
  ]
  let checks = notServing('the server is starting')
  let wasReady = true

  const tell = (ready: boolean, failed: readonly { readonly name: string }[]) => {
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
      // It may have begun, or ended, meanwhile.
      if (asked !== checks) return this.report()
      const failed = results.filter(({ ok }) => !ok)
      const ready = failed.length === 0
      if (asked.some(({ name }) => name !== 'serving')) tell(ready, failed)
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
