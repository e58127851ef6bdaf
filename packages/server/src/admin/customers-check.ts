import { programName } from '@holdfast/credentials-file'
import type { ServerStatus } from '../serve/server-status.ts'
import type { Check } from './check.ts'

/**
 * Whether there are customers: without any, all that a server can do with a request is refuse it. A file that is refused
 * does no harm yet, and is told.
 */
export function customersCheck({ customers }: Pick<ServerStatus, 'customers'>): Check {
  return {
    name: 'customers',
    look() {
      const { count, refusedSince } = customers()
      const refused = refusedSince && { refusedSince: refusedSince.toISOString() }
      if (count > 0) return { ok: true, count, ...refused }
      const why = `there are none, so that nobody can log in; ${programName()} customers add NAME`
      return { ok: false, why, count, ...refused }
    },
  }
}
