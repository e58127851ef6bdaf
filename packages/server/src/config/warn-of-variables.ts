import { unknownVariables } from './unknown-variables.ts'

/** Logs the variables of `environment` that look like settings and are none. */
export function warnOfVariables(
  log: { warn(message: string): void },
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const warning of unknownVariables(environment)) log.warn(warning)
}
