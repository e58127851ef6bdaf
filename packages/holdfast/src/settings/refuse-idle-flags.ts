import { SetupError } from '@holdfast/core'
import {
  settingNames,
  settings,
  type StoreKind,
  type WrittenSettings,
} from '@holdfast/server/config'

/**
 * Refuses flags of a store that is not among those `inUse`: whoever gave one believes that it does something. Variables
 * and configuration files may have more, since several commands share them.
 *
 * @throws SetupError that names every such flag
 */
export function refuseIdleFlags(flags: WrittenSettings, inUse: readonly StoreKind[]): void {
  const idle = settingNames.filter((name) => {
    const { store } = settings[name]
    return flags[name] !== undefined && store !== undefined && !inUse.includes(store)
  })
  if (idle.length === 0) return
  const named = idle.map((name) => `--${name}`).join(', ')
  const wanted = [...new Set(idle.map((name) => settings[name].store))].join(' or ')
  throw new SetupError(`The store is ${inUse.join(' and ')}, for which ${named} would do nothing`, [
    `Choose the store ${wanted}, or leave that out.`,
  ])
}
