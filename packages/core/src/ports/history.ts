import type { BlobInfo } from './blob-info.ts'
import type { BlobKey, ListOptions, OpenBlob, OpenOptions, RenameOptions, Usage } from './blob.ts'

/** A blob that was replaced or deleted, and is kept. */
export interface KeptBlob extends BlobInfo {
  /**
   * Names it among all that were ever kept of its name: 1 to 200 characters of `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`. The store
   * chooses it.
   */
  readonly version: string
  /** When it was replaced or deleted, by the store's clock; it may be later than that, by a restored backup for example. */
  readonly replacedAt: Date
}

export interface VersionOptions {
  /** Only those that are older than this one in the order of `versions`, which need not exist any more. Default: from the newest. */
  readonly before?: string
  /** The most entries on all pages together, 1 or more. Default: all. */
  readonly limit?: number
}

/** What is kept of a blob that the caller wants back. */
export interface KeptKey extends BlobKey {
  readonly version: string
}

/**
 * Keeps blobs that were replaced or deleted, until they are purged. A store that supports that has this as `history`. What is kept is no
 * blob: it is not opened, listed or counted as one, and nothing but `purge` changes it. It survives a crash as blobs do. The core checks
 * names, quota and permission before it calls a store. Every sentence here is a test in `@holdfast/contract`.
 *
 * A blob that is renamed is not kept under its earlier name. When a put, a rename or a restore rejects half-way (power cut, lost
 * connection), its blob may be among those that are kept.
 */
export interface History {
  /**
   * What is kept of a name, newest first, in pages of at most 1,024 entries; without any there is no page. The present blob is not
   * among them. One that is kept during the whole iteration occurs exactly once; one that is replaced or purged meanwhile may occur or
   * not.
   */
  versions(key: BlobKey, options?: VersionOptions): AsyncIterable<readonly KeptBlob[]>

  /**
   * The names of which something is kept, but that have no blob, each with what was kept last; in the order and pages of
   * `BlobStore.list`, with its promises.
   */
  deleted(customer: string, options?: ListOptions): AsyncIterable<readonly KeptBlob[]>

  /** Everything that is kept for a customer, in no order, in pages of at most 1,024 entries. */
  kept(customer: string): AsyncIterable<readonly KeptBlob[]>

  /** Opens what is kept, as `BlobStore.open` does; `undefined` if it is not kept. It stays readable to its end even if it is purged. */
  open(key: KeptKey, options?: OpenOptions): Promise<OpenBlob | undefined>

  /**
   * Stores a copy of what is kept as the blob `to` of the same customer, with the promises of `BlobStore.put`, and resolves with its
   * {@link BlobInfo}: it has a new time and a new entity tag. The blob that it replaces is kept. What is restored stays kept, too.
   * Resolves with `undefined` if it is not kept, and then nothing has changed. With `createOnly` and a taken name, it rejects with
   * `already-exists`, and nothing has changed.
   */
  restore(key: KeptKey, to: string, options?: RenameOptions): Promise<BlobInfo | undefined>

  /**
   * Removes what was replaced before a time, for good, and resolves with how much that was. It never removes a blob, or what is replaced
   * meanwhile. When it resolves, no crash brings back what it has removed. It may be ended at any time, and called again.
   */
  purge(customer: string, before: Date): Promise<Usage>

  /** The customers for whom something is kept, in no order, each once; others may occur, too. */
  customers(): AsyncIterable<string>
}
