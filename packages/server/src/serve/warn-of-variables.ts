import { unknownVariables } from '../config/unknown-variables.ts'
import type { WarningLog } from '../stores/closable-store.ts'

/** Logs the variables of `environment` that look like settings and are none. */
export function warnOfVariables(
  log: WarningLog,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const warning of unknownVariables(environment)) log.warn(warning)
}
