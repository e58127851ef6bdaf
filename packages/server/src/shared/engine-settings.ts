import { X509Certificate } from 'node:crypto'
import { SetupError } from '@holdfast/core'
import type { EngineOptions } from '@holdfast/shared-redis'
import type { Config } from '../config/resolve-config.ts'
import { readText, secretVariables } from '../config/environment.ts'

/** How to connect to the Valkey or Redis that several servers share. */
export interface EngineSettings extends Pick<
  EngineOptions,
  'url' | 'username' | 'password' | 'sentinelPassword'
> {
  /** The authorities of its certificate, in PEM form; absent for those that Node.js knows. */
  readonly ca?: string
  readonly prefix: NonNullable<EngineOptions['prefix']>
}

/**
 * The settings of the shared engine, with the passwords from the configuration's environment; `undefined` if the server counts for
 * itself.
 *
 * @throws SetupError for a user without a password, an authority that cannot be used, and what is wrong with the password's source
 */
export async function findEngineSettings(config: Config): Promise<EngineSettings | undefined> {
  const { 'shared-url': url, 'shared-user': username, 'shared-prefix': prefix } = config
  if (url === undefined) return undefined
  const password = await config.readSecret('shared-password')
  const sentinelPassword = await config.readSecret('shared-sentinel-password')
  if (username !== undefined && password === undefined) {
    const { value, file } = secretVariables('shared-password')
    throw new SetupError('The user of Valkey or Redis (--shared-user) has no password', [
      `set ${value}, or ${file} with the path of a file that holds it.`,
    ])
  }
  const ca = await readAuthorities(config)
  return {
    url,
    prefix,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(ca !== undefined && { ca }),
  }
}

async function readAuthorities({
  'shared-url': url = '',
  'shared-ca': path,
}: Config): Promise<string | undefined> {
  if (path === undefined) return undefined
  if (!/^rediss/i.test(url)) {
    throw new SetupError(
      'The connection to Valkey or Redis is not encrypted, so that --shared-ca has no effect',
      ['write rediss instead of redis in --shared-url, or leave --shared-ca out.'],
    )
  }
  const subject = `The file ${path} (--shared-ca)`
  const text = await readText(path, subject)
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new SetupError(`${subject} is not a certificate in PEM form`, [
      'name the file that begins with -----BEGIN CERTIFICATE-----.',
    ])
  }
}
