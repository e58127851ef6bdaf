import type { Config, StoreKind } from '@holdfast/server/config'

/** A store to copy from or to: which one, and the settings that it is opened with. */
export interface StorePlace {
  readonly kind: StoreKind
  readonly config: Config
}
