import { SetupError, asSentence } from '@holdfast/core'
import type { StoreSettingError } from '@holdfast/store-minio'
import type { Config } from '../config/resolve-config.ts'
import { secretVariables } from '../config/secrets.ts'
import { environmentName } from '../config/settings.ts'

/** The settings that the MinIO store needs and that have no default. */
export interface MinioSettings {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

/**
 * The settings of the MinIO store that have no default, with the keys from the configuration's environment.
 *
 * @throws SetupError that names all missing settings, or what is wrong with the keys
 */
export async function findMinioSettings(config: Config): Promise<MinioSettings> {
  const missing: string[] = []
  const need = (value: string | undefined, first: string, second: string) => {
    if (value === undefined) missing.push(`${first} or ${second}`)
    return value ?? ''
  }
  const setting = (name: 'minio-endpoint' | 'minio-bucket') =>
    need(config[name], `--${name}`, environmentName(name))
  const secret = async (name: 'minio-access-key' | 'minio-secret-key') => {
    const { value, file } = secretVariables(name)
    return need(await config.readSecret(name), value, file)
  }
  const found = {
    endpoint: setting('minio-endpoint'),
    bucket: setting('minio-bucket'),
    accessKey: await secret('minio-access-key'),
    secretKey: await secret('minio-secret-key'),
  }
  if (missing.length === 0) return found
  throw new SetupError('The MinIO store needs settings that are missing:', missing)
}

const settingNames: Readonly<Record<NonNullable<StoreSettingError['setting']>, string>> = {
  endpoint: '--minio-endpoint',
  bucket: '--minio-bucket',
  accessKey: 'HOLDFAST_MINIO_ACCESS_KEY',
  secretKey: 'HOLDFAST_MINIO_SECRET_KEY',
  region: '--minio-region',
  prefix: '--minio-prefix',
  createBucket: '--minio-create-bucket',
}

/** The error for a wrong setting of the MinIO store, with the name under which it was set. */
export function explainMinioSetting({
  problem,
  remedies,
  setting,
  cause,
}: StoreSettingError): SetupError {
  const where = setting === undefined ? '' : ` (${settingNames[setting]})`
  const text = `Cannot use the MinIO store: ${problem}${where}`
  if (cause instanceof Error && cause.name === 'NoSuchBucket') {
    const remedy = 'make it, or give this command --minio-create-bucket.'
    return new SetupError(`${text}:`, [remedy], cause)
  }
  const said = asSentence({ problem: text, remedies })
  return new SetupError(said.problem, said.remedies)
}
