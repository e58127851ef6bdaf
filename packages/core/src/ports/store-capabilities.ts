import type {
  BlobInfo,
  BlobKey,
  ListOptions,
  OpenBlob,
  OpenOptions,
  RenameOptions,
  Usage,
  KeepOptions,
} from './blob.ts'

/** An earlier version: a blob that was replaced or deleted, and is kept. */
export interface KeptBlob extends BlobInfo {
  /**
   * Identifies this version among all versions ever kept under its name: 1 to 200 characters of `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`.
   * The store chooses it.
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

/** The earlier version that a caller wants. */
export interface KeptKey extends BlobKey {
  readonly version: string
}

/**
 * Keeps blobs that were replaced or deleted, as earlier versions, until they are purged. A store that supports that has this as `history`.
 * An earlier version is no blob: it is not opened, listed or counted as one, and nothing but `purge` changes it. It survives a crash as
 * blobs do. The core checks names, quota and permission before it calls a store. Every sentence here is a test in `@holdfast/contract`.
 *
 * A blob that is renamed is not kept under its earlier name. When a put, a rename or a restore rejects half-way (power cut, lost
 * connection), its blob may be among the earlier versions.
 */
export interface History {
  /**
   * The earlier versions of a name, newest first, in pages of at most 1,024 entries; without any there is no page. The present blob is not
   * among them. One that is kept during the whole iteration occurs exactly once; one that is replaced or purged meanwhile may occur or
   * not.
   */
  versions(key: BlobKey, options?: VersionOptions): AsyncIterable<readonly KeptBlob[]>

  /**
   * For each name with earlier versions but without a blob: its last version, in the order and pages of `BlobStore.list`, with its
   * promises.
   */
  deleted(customer: string, options?: ListOptions): AsyncIterable<readonly KeptBlob[]>

  /** All earlier versions of a customer, in no order, in pages of at most 1,024 entries. */
  kept(customer: string): AsyncIterable<readonly KeptBlob[]>

  /**
   * Opens an earlier version, as `BlobStore.open` does; `undefined` if there is none. It stays readable to its end even if it is purged.
   */
  open(key: KeptKey, options?: OpenOptions): Promise<OpenBlob | undefined>

  /**
   * Stores a copy of an earlier version as the blob `to` of the same customer, with the promises of `BlobStore.put`, and resolves with its
   * {@link BlobInfo}: it has a new time and a new entity tag. The blob that it replaces is kept. The earlier version stays, too. Resolves
   * with `undefined` if there is no such version, and then nothing has changed. With `createOnly` and a taken name, it rejects with
   * `already-exists`, and nothing has changed.
   */
  restore(key: KeptKey, to: string, options?: RenameOptions): Promise<BlobInfo | undefined>

  /**
   * Removes the earlier versions that were replaced or deleted before a time, for good, and resolves with how many they were. It never
   * removes a blob, or a version of one that is replaced meanwhile. When it resolves, no crash brings back what it has removed. It may be
   * ended at any time, and called again.
   */
  purge(customer: string, before: Date): Promise<Usage>

  /** The customers who have earlier versions, in no order, each once; others may occur, too. */
  customers(): AsyncIterable<string>
}

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
   * Remembers a text of 1 to 200 characters of ASCII for a customer, in place of an earlier one. Resolves with the store's time at that
   * moment, when all openings of the store read the text and it survives a crash.
   */
  writeNote(customer: string, note: string): Promise<Date>
}

/**
 * Remembers that customers have ended their links. Links are not stored, so a customer's links are made for a generation, and end with
 * it. Every sentence here is a test in `@holdfast/contract`.
 */
export interface LinkGenerations {
  /** The present generation; `''` for a customer who has never ended links. */
  read(customer: string): Promise<string>
  /**
   * Begins a generation that the customer never had: 1 to 64 letters and digits. When it resolves, with that generation or one that has
   * begun since, all openings of the store read it, and no crash brings an earlier one back.
   */
  renew(customer: string): Promise<string>
}
