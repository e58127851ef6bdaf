import type { BlobStore } from '@holdfast/core'

/** Where a store reports what its administrator may want to know; a logger is one. */
export interface WarningLog {
  warn(message: string): void
}

/** A store that holds something outside the process while it is open. */
export interface ClosableStore extends BlobStore {
  /** Writes, reads and removes something that is no blob, as it does with blobs. Rejects with what fails. */
  readonly probe: (signal?: AbortSignal) => Promise<void>
  /** How many bytes there is room for; left out where that is unknown. */
  readonly freeSpace?: () => Promise<number>
  close(): Promise<void>
}
