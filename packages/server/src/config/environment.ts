import { readFile } from 'node:fs/promises'
import { SetupError, closestWord, messageOf } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file/messages'
import { environmentName, type StoreKind, settingNames } from './settings.ts'

/**
 * Values that must not appear in a list of processes or be committed with a configuration file. They come from the environment, or
 * from a file that the environment names.
 */
export const secrets = {
  'minio-access-key': { describe: 'Access key of the MinIO store', store: 'minio' },
  'minio-secret-key': { describe: 'Secret key of the MinIO store', store: 'minio' },
  'shared-password': { describe: 'Password for Valkey or Redis' },
  'shared-sentinel-password': { describe: 'Password for the Sentinels' },
  'webhook-secret': { describe: 'Secret that events are signed with; two while one is changed' },
} as const satisfies Readonly<Record<string, Secret>>

interface Secret {
  readonly describe: string
  /** The only store that needs the secret; absent if it is for the server. */
  readonly store?: StoreKind
}

export type SecretName = keyof typeof secrets

export const secretNames = Object.keys(secrets) as readonly SecretName[]

/** The secrets without which the MinIO store cannot be opened. */
export const minioSecretNames = secretNames.filter((name) => 'store' in secrets[name])

/** The variable that holds a secret, and the one that holds the path of a file with it. */
export function secretVariables(name: SecretName): {
  readonly value: string
  readonly file: string
} {
  const value = environmentName(name)
  return { value, file: `${value}_FILE` }
}

/** If `word` is a secret or its file, written like a setting: how to set it, as a sentence without a full stop. */
export function secretRemedy(word: string): string | undefined {
  const name = secretNames.find((each) => word === each || word === `${each}-file`)
  if (name === undefined) return undefined
  const { value, file } = secretVariables(name)
  return `set ${value}, or ${file} with the path of a file that holds it`
}

/**
 * A secret from `environment`, or from the file that `environment` names; `undefined` if neither is set. A line break at its end is
 * removed.
 *
 * @throws SetupError that names the variable, and never its value, if both are set, the file cannot be read, or the secret is not
 *   one line
 */
export async function readSecret(
  name: SecretName,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const variables = secretVariables(name)
  const value = environment[variables.value] || undefined
  const path = environment[variables.file] || undefined
  if (value !== undefined && path !== undefined) {
    const both = `${variables.value} and ${variables.file}`
    throw new SetupError(`Both ${both} are set`, ['unset one of them.'])
  }
  if (value !== undefined) return onlyLine(value, variables.value)
  if (path === undefined) return undefined
  const subject = `The file ${path} that ${variables.file} names`
  return onlyLine(await readText(path, subject), subject)
}

function onlyLine(text: string, subject: string): string {
  const line = text.replace(/\r?\n$/, '')
  if (line === '') throw new SetupError(`${subject} is empty.`)
  if (/[\r\n]/.test(line)) throw new SetupError(`${subject} has more than one line.`)
  return line
}

/**
 * Reads a file of an administrator as text. `subject` names the file in the error.
 *
 * @throws SetupError with `remedies` if the file cannot be read
 */
export async function readText(
  path: string,
  subject: string,
  ...remedies: readonly string[]
): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = describeDenial(error) ?? messageOf(error)
    const problem = `${subject} cannot be read (${reason})`
    throw new SetupError(remedies.length === 0 ? `${problem}.` : problem, remedies)
  }
}

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
