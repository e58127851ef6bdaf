import { closestWord } from '@holdfast/core'
import { secretNames, secretVariables } from './secrets.ts'
import { environmentName, settingNames } from './settings.ts'

/** Logs the variables of `environment` that look like settings, but are not. */
export function warnOfVariables(
  log: { warn(message: string): void },
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const warning of unknownVariables(environment)) log.warn(warning)
}

/** The variables of the commands that send requests to a server, such as `holdfast get`. */
const ofTheClient = ['URL', 'NAME', 'PASSWORD', 'PASSWORD_FILE', 'PROFILE'].map(
  (name) => `HOLDFAST_${name}`,
)

const known = new Set([
  'HOLDFAST_CONFIG',
  ...ofTheClient,
  ...settingNames.map(environmentName),
  ...secretNames.flatMap((name) => Object.values(secretVariables(name))),
])

/** The variables that the project's tests and scripts set for themselves, and for the programs that they run. */
const ofTheProject =
  /^HOLDFAST_(COMMAND|NODE|BIN|IMAGE|BASE_IMAGE|(NGINX|MINIO|HAPROXY|VALKEY)_IMAGE|BROWSER|WITHOUT_CONTAINERS|(TEST|BENCH|BACKUP)_.*)$/

/** The variables that Kubernetes sets in every pod for a service whose name begins with `holdfast`. */
const ofKubernetes = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/

/**
 * A warning for each variable of `environment` that begins with `HOLDFAST_` and is not a setting: it is probably misspelt. The warning
 * has the name that was probably meant, and never a value.
 */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.entries(environment)
    .filter(([name, value]) => isUnknown(name, value))
    .map(([name]) => {
      const meant = closestWord(name, known)
      const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
      return `${name} is not a setting and is ignored.${hint}`
    })
}

function isUnknown(name: string, value = ''): boolean {
  if (!/^HOLDFAST_/i.test(name) || value === '' || known.has(name)) return false
  return !ofTheProject.test(name) && !ofKubernetes.test(name) && !/^(tcp|udp|sctp):\/\//.test(value)
}
