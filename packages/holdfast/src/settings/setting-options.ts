import type { Argv } from 'yargs'
import {
  environmentName,
  type SettingName,
  settings,
  type StoreKind,
} from '@holdfast/server/config'

const headings: Readonly<Record<StoreKind, string>> = {
  disk: 'Disk store:',
  minio: 'MinIO store:',
}

/** Options for the settings `names`, in groups. Each value is text. */
export function withSettings(yargs: Argv, names: readonly SettingName[]): Argv {
  for (const name of names) {
    const { describe, store, isSwitch = false, default: byDefault = '' } = settings[name]
    // No type: with the parser's configuration in main.ts each value is text, or `true` for a switch without a value.
    yargs.option(name, {
      requiresArg: !isSwitch,
      coerce: String,
      group: store === undefined ? 'Server:' : headings[store],
      describe: `${describe} [$${environmentName(name)}]`,
      ...(byDefault !== '' && { defaultDescription: byDefault }),
    })
  }
  return yargs
}
