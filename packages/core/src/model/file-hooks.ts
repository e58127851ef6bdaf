import type { BlobInfo, OpenBlob } from '../ports/blob-store.ts'
import type { ByteRange } from './byte-range.ts'
import type { Customer } from './customer.ts'

/**
 * What an application wants to be told of, after the fact: an index to be kept, a counter, a message to somebody.
 *
 * Each is called at most once for what it tells of, in the process that did it, and never for what was refused, or for an
 * upload or a deletion that failed.
 * Nothing is kept for later: what happens right before a process ends may never be told, and whoever must know all of it
 * looks into the store from time to time. Nobody waits for a hook, and nothing becomes of what it throws or rejects with but
 * a rejection that nobody handles, as with any promise that is left alone.
 */
export interface FileHooks {
  /** A file is safe and visible; called right before `upload` resolves. */
  onUploaded?(upload: Uploaded): unknown
  /** A file was read, to its end or as far as it came; not called where it was opened and not read. */
  onServed?(serving: Served): unknown
  /** A file is gone for good; called right before `delete` resolves. */
  onDeleted?(deletion: Deleted): unknown
}

export interface Uploaded {
  readonly customer: Customer
  readonly file: BlobInfo
}

export interface Served {
  readonly customer: Customer
  readonly file: BlobInfo
  /** The part that was asked for; all of the file where nothing was. */
  readonly range: ByteRange
  /** How many bytes were handed out: less than those of `range` where the reader has left or the store failed. */
  readonly bytes: number
}

export interface Deleted {
  readonly customer: Customer
  readonly name: string
}

/** Makes a `call` of a hook, and has its failure be nobody's but its own. */
export function tell(call: () => unknown): void {
  void (async () => call())()
}

/** `blob`, telling `onRead` once when its reading has ended, if it was read, of how many bytes it handed out. */
export function watchReading(blob: OpenBlob, onRead: (bytes: number) => void): OpenBlob {
  const { info, range, bytes: inMemory } = blob
  let handedOut: number | undefined
  let isTold = false
  const end = () => {
    if (isTold || handedOut === undefined) return
    isTold = true
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
