import { SetupError } from '@holdfast/core'

/** The options of a MinIO store that an administrator can get wrong. */
export type StoreSetting =
  | 'endpoint'
  | 'bucket'
  | 'accessKey'
  | 'secretKey'
  | 'region'
  | 'prefix'
  | 'createBucket'

/** Why a store cannot be opened. The words do not name the setting: the caller knows how it was set. */
export class StoreSettingError extends SetupError {
  override readonly name = 'StoreSettingError'
  /** The setting that is wrong; `undefined` if it is unknown, or no setting is wrong. */
  readonly setting: StoreSetting | undefined

  constructor(
    setting: StoreSetting | undefined,
    problem: string,
    remedies: readonly string[] = [],
    cause?: unknown,
  ) {
    super(problem, remedies, cause)
    this.setting = setting
  }
}
