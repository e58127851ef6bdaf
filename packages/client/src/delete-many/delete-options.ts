export interface DeleteOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Whether a browser is to finish the request when the page is closed meanwhile. Browsers refuse it if the bodies of all such requests
   * are larger together than 64 KiB. Default: false.
   */
  readonly keepalive?: boolean | undefined
}

/** What became of one of many files. */
export interface FileDeleted {
  readonly name: string
  /** Why it was not deleted, such as `not-found`; `undefined`: it is gone for good. */
  readonly error: Error | undefined
}
