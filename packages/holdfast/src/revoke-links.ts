import { isFileServiceError, SetupError } from '@holdfast/core'
import { findConfig, type Config, type WrittenSettings } from '@holdfast/server/config'
import { visible } from '@holdfast/server/visible'
import type { Argv } from 'yargs'
import {
  type NameArgument,
  onlyName,
  refuseFlagsOfOtherStores,
  settingEnvironment,
  settingsOfFiles,
  withConfig,
  withSettings,
} from './flags.ts'
import { openExistingStore, refuseMissingData, unknownCustomer } from './existing-store.ts'
import { standardError } from './terminal/print.ts'

/** The flags on the command line. Other settings come from the environment and the configuration file. */
export type RevokeLinksFlags = WrittenSettings & NameArgument & { readonly config?: string }

/** The arguments and options of `holdfast customers revoke-links`. */
export function describeRevokeLinks(yargs: Argv): Argv {
  return withConfig(withSettings(yargs, settingsOfFiles))
    .positional('name', {
      type: 'string',
      describe: 'Name of the customer; after -- if it begins with a dash',
    })
    .example('$0 customers revoke-links alice', 'no link of alice works any more')
    .epilog(
      'Give the flags that the server gets. Running servers refuse the links within half a second; links that are made later work.',
    )
}

/**
 * Ends all links that the customer has made; resolves with the exit code.
 *
 * @throws SetupError for what an administrator can mend, including an unknown customer
 */
export async function revokeLinks(flags: RevokeLinksFlags): Promise<number> {
  const name = onlyName(flags)
  if (name === undefined) throw new SetupError('Say the name of the customer.')
  if (name.includes('/')) {
    throw new SetupError('Links end for all logins of a customer together', [
      'Say the name of the customer alone. To end those of one login: give it a new password.',
    ])
  }
  const config = await findConfig(flags, settingEnvironment(settingsOfFiles))
  refuseFlagsOfOtherStores(flags, [config.store])
  if (config.store === 'disk') await refuseMissingData(config.data)
  await refuseUnknown(name, config)
  const store = await openExistingStore(config.store, config)
  try {
    if (!store.linkGenerations) throw new SetupError('This store cannot end links.')
    await store.linkGenerations.renew(name)
    standardError().write(`All links that "${visible(name)}" has made are ended.\n`)
    return 0
  } catch (error) {
    if (!isFileServiceError(error)) throw error
    throw new SetupError(`The links of "${name}" may still work: ${error.message}.`)
  } finally {
    await store.close()
  }
}

async function refuseUnknown(name: string, { customers: path }: Config): Promise<void> {
  const { openCustomersFile } = await import('@holdfast/credentials-file')
  const file = await openCustomersFile(path)
  if (file.has(name)) return
  throw unknownCustomer(`${path} has no customer "${name}"`, name, file.names())
}
