import { environmentName } from './settings.ts'

/**
 * What must not show in a list of processes or be committed with a configuration file. It comes from the environment, or
 * from a file that the environment names.
 */
export const secrets = {
  'minio-access-key': 'Access key of the MinIO store',
  'minio-secret-key': 'Secret key of the MinIO store',
} as const

export type SecretName = keyof typeof secrets

export const secretNames = Object.keys(secrets) as readonly SecretName[]

/** The variable that holds a secret, and the one that holds the path of a file with it. */
export function secretVariables(name: SecretName): {
  readonly value: string
  readonly file: string
} {
  const value = environmentName(name)
  return { value, file: `${value}_FILE` }
}

/** Where `word` belongs, a sentence without its end, if it is a secret or its file written like a setting. */
export function secretRemedy(word: string): string | undefined {
  const name = secretNames.find((each) => word === each || word === `${each}-file`)
  if (name === undefined) return undefined
  const { value, file } = secretVariables(name)
  return `set ${value}, or ${file} with the path of a file that holds it`
}
