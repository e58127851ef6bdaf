import type { BlobInfo, OpenBlob, ByteRange } from '../ports/blob.ts'
import type { Customer } from './customer.ts'

/**
 * Functions of the application that are called after an upload, a download, a deletion, a rename or a restoration: to keep an index, to count, to send a
 * message.
 *
 * A hook is called at most once for each event, in the process that did the work, and never for a request that was refused
 * or that failed. Events are not stored: one right before the end of the process may be lost. An application that must
 * know every change compares with the store from time to time. The service does not wait for a hook. What a hook throws
 * becomes an unhandled rejection.
 */
export interface FileHooks {
  /** A file is stored durably and visible; called right before `upload` resolves. */
  onUploaded?(upload: Uploaded): unknown
  /** A file was read, completely or in part; not called if it was opened but not read. */
  onServed?(serving: Served): unknown
  /** A file is deleted durably; called right before `delete` resolves. */
  onDeleted?(deletion: Deleted): unknown
  /** A file has durably another name, and a file that had it before is gone; called right before `rename` resolves. */
  onRenamed?(renaming: Renamed): unknown
  /** An earlier version of a file is a file again, durable and visible; called right before `restore` resolves. */
  onRestored?(restoration: Restored): unknown
}

export interface Uploaded {
  readonly customer: Customer
  readonly file: BlobInfo
}

export interface Served {
  readonly customer: Customer
  readonly file: BlobInfo
  /** The requested part; the whole file if no part was requested. */
  readonly range: ByteRange
  /** How many bytes the reader received: fewer than `range` has if the reader stopped or the store failed. */
  readonly bytes: number
}

export interface Deleted {
  readonly customer: Customer
  readonly name: string
}

export interface Renamed {
  readonly customer: Customer
  /** The earlier name. */
  readonly from: string
  /** The file under its new name. */
  readonly file: BlobInfo
}

export interface Restored {
  readonly customer: Customer
  /** The name of the file whose earlier version was restored. */
  readonly from: string
  /** Which version was asked for. Default: the last one. */
  readonly version?: string
  /** The restored file. */
  readonly file: BlobInfo
}

/** Calls a hook without waiting for it; its failure does not reach the caller. */
export function notify(call: () => unknown): void {
  void (async () => call())()
}

/** `blob`, which calls `onRead` with the number of bytes read when reading ends: at most once, and not if it was never read. */
export function watchReading(blob: OpenBlob, onRead: (bytes: number) => void): OpenBlob {
  const { info, range, bytes: inMemory } = blob
  let handedOut: number | undefined
  let hasReported = false
  const end = () => {
    if (hasReported || handedOut === undefined) return
    hasReported = true
    onRead(handedOut)
  }

  async function* content() {
    handedOut ??= 0
    try {
      for await (const chunk of blob.content) {
        handedOut += chunk.length
        yield chunk
      }
    } finally {
      end()
    }
  }

  const watched: OpenBlob = {
    info,
    range,
    content: content(),
    async close() {
      try {
        await blob.close()
      } finally {
        end()
      }
    },
  }
  if (inMemory === undefined) return watched
  const take = () => {
    handedOut ??= inMemory.length
    return inMemory
  }
  return Object.defineProperty(watched, 'bytes', { get: take, enumerable: true })
}
