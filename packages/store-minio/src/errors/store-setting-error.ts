/** The options of a MinIO store that an administrator can get wrong. */
export type StoreSetting =
  'endpoint' | 'bucket' | 'accessKey' | 'secretKey' | 'region' | 'prefix' | 'createBucket'

/** Why a store cannot be opened, in a message for administrators that does not name the setting itself. */
export class StoreSettingError extends Error {
  override readonly name = 'StoreSettingError'
  /** The setting that is wrong; `undefined` if it is unknown, or no setting is wrong. */
  readonly setting: StoreSetting | undefined

  constructor(setting: StoreSetting | undefined, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.setting = setting
  }
}
