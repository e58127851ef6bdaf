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

/** Options for the settings `names`, in groups; whatever is given for one comes as text. */
export function withSettings(yargs: Argv, names: readonly SettingName[]): Argv {
  for (const name of names) {
    const { describe, store, isSwitch = false, default: byDefault = '' } = settings[name]
    // No type: with the parser's settings in main.ts each is text, or `true` where a switch stands alone.
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
