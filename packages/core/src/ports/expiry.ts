import type { BlobInfo } from './blob-info.ts'
import type { KeepOptions } from './blob.ts'

/**
 * Deletes blobs that have expired, and remembers since when they may. A store that supports that has this as `expiry`. Every sentence here
 * is a test in `@holdfast/contract`.
 */
export interface Expiry {
  /**
   * Deletes a customer's blob if it is still the one that `blob` describes, as the store has described it; resolves with `true` when it is
   * deleted durably, with `false` if there is none or another one. A blob that is put or renamed to the name at the same time is never
   * lost. The store documents where it cannot promise that between several servers.
   */
  deleteUnchanged(customer: string, blob: BlobInfo, options?: KeepOptions): Promise<boolean>

  /** What was remembered last for a customer; `''` if nothing was. */
  readNote(customer: string): Promise<string>

  /**
   * Remembers a text of 1 to 200 characters of ASCII for a customer, in place of an earlier one. Resolves when all openings of the store
   * read it, and it survives a crash, with the time of the store's clock at that moment.
   */
  writeNote(customer: string, note: string): Promise<Date>
}
