import type { Config } from '../../config/resolve-config.ts'
import type { StoreKind } from '../../config/settings.ts'

/** A store to copy from or to: which one, and the settings that it is opened with. */
export interface StorePlace {
  readonly kind: StoreKind
  readonly config: Config
}
