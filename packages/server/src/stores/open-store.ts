import type { Config } from '../config/resolve-config.ts'
import type { StoreKind } from '../config/settings.ts'
import type { ClosableStore, WarningLog } from './closable-store.ts'
import { openDiskStore } from './open-disk-store.ts'
import { openMinioStore } from './open-minio-store.ts'

export type { WarningLog } from './closable-store.ts'

interface Store {
  open(config: Config, log: WarningLog, writer?: number): Promise<ClosableStore>
  placeOf(config: Config): Readonly<Record<string, string | undefined>>
}

const stores: Readonly<Record<StoreKind, Store>> = {
  disk: {
    open: openDiskStore,
    placeOf: ({ data }) => ({ data }),
  },
  minio: {
    open: openMinioStore,
    placeOf: (config) => ({
      endpoint: config['minio-endpoint'],
      bucket: config['minio-bucket'],
      prefix: config['minio-prefix'],
    }),
  },
}

/**
 * Opens the store of `kind` with the settings of the configuration, also if the server uses the other kind. `writer` is the
 * number of this process among those of the server, from 0.
 *
 * @throws SetupError for what an administrator can mend
 */
export function openStore(
  kind: StoreKind,
  config: Config,
  log: WarningLog,
  writer?: number,
): Promise<ClosableStore> {
  return stores[kind].open(config, log, writer)
}

/** Where the store of a kind keeps its files, as fields for a line of the log; nothing secret. */
export function placeOf(
  kind: StoreKind,
  config: Config,
): Readonly<Record<string, string | undefined>> {
  return stores[kind].placeOf(config)
}
