import { finding, type Finding } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { secretVariables } from '../config/secrets.ts'
import { isLoopback } from '../listen/explain-listening.ts'
import {
  findEngineSettings,
  hostsOf,
  isEncrypted,
  type EngineSettings,
} from '../shared/engine-settings.ts'

/**
 * Checks the settings of the Valkey or Redis in which several servers count together; yields nothing if the server counts for itself.
 *
 * @throws SetupError for settings with which no server starts
 */
export async function* sharedFindings(config: Config): AsyncGenerator<Finding> {
  const settings = await findEngineSettings(config)
  if (settings === undefined) return
  yield finding('ok', 'keys', `begin with ${settings.prefix}:`)
  yield await encryption(settings)
  yield await password(settings)
}

async function encryption({ url }: EngineSettings): Promise<Finding> {
  if (isEncrypted(url)) return finding('ok', 'encryption', 'TLS')
  if (await isOnThisMachine(url)) {
    return finding('ok', 'encryption', 'not needed on this machine alone')
  }
  return finding(
    'warning',
    'encryption',
    'names of customers, addresses and the password cross the network unencrypted',
    'write rediss instead of redis in --shared-url, unless that network is yours alone',
  )
}

async function password({ url, password: secret }: EngineSettings): Promise<Finding> {
  if (secret !== undefined) return finding('ok', 'password', 'is set')
  if (await isOnThisMachine(url)) {
    return finding('ok', 'password', 'none, on this machine alone')
  }
  const { value, file } = secretVariables('shared-password')
  return finding(
    'warning',
    'password',
    'none: whoever reaches Valkey or Redis can change what is counted',
    `give it a password, and set ${value} or ${file}`,
  )
}

async function isOnThisMachine(url: string): Promise<boolean> {
  const areLocal = await Promise.all(hostsOf(url).map((host) => isLoopback(host)))
  return areLocal.every(Boolean)
}
