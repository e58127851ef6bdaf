import { SetupError } from '@holdfast/core'
import {
  settingNames,
  settings,
  type StoreKind,
  type WrittenSettings,
} from '@holdfast/server/config'

/**
 * Refuses flags of a store that is not among those `inUse`, since they would have no effect. Variables and configuration
 * files may have them, since several commands share these.
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
