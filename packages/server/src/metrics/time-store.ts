import type { BlobStore, ResumableUpload, ResumableUploads } from '@holdfast/core'

/** What a store does. */
export const storeOperations = [
  'put',
  'open',
  'stat',
  'delete',
  'list',
  'usage',
  'customers',
  'begin',
  'state',
  'append',
  'publish',
  'discard',
] as const

export type StoreOperation = (typeof storeOperations)[number]

/** Called for the operations of a store. */
export interface StoreObserver {
  /** An operation has ended, with success or not, after so many milliseconds. */
  onDone(operation: StoreOperation, durationMs: number): void
  onFailed(operation: StoreOperation, error: unknown): void
  /** An upload, or a piece of one, has started (1) or ended (-1). */
  onUploads(change: 1 | -1): void
}

/** Measures calls of a store. */
export interface StoreTimer {
  readonly timed: <T>(operation: StoreOperation, call: () => Promise<T>) => Promise<T>
  /**
   * For a call that takes content: its time is that from the end of the content, since before that the client determines
   * the pace. An error of the content, or an abort, is no failure of the store.
   */
  readonly taking: <T>(
    operation: StoreOperation,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal | undefined,
    call: (content: AsyncIterable<Uint8Array>) => Promise<T>,
  ) => Promise<T>
}

export function createStoreTimer(observer: StoreObserver): StoreTimer {
  return {
    async timed(operation, call) {
      const begin = performance.now()
      try {
        return await call()
      } catch (error) {
        observer.onFailed(operation, error)
        throw error
      } finally {
        observer.onDone(operation, performance.now() - begin)
      }
    },
    async taking(operation, content, signal, call) {
      const watched = watchContent(content)
      observer.onUploads(1)
      try {
        return await call(watched.content)
      } catch (error) {
        const isOurs = watched.hasFailedWith(error) || signal?.aborted
        if (!isOurs) observer.onFailed(operation, error)
        throw error
      } finally {
        observer.onUploads(-1)
        const endedAt = watched.endedAt()
        if (endedAt !== undefined) observer.onDone(operation, performance.now() - endedAt)
      }
    },
  }
}

/** `content`, with an eye on when it has ended, or what it has failed with. */
function watchContent(content: AsyncIterable<Uint8Array>) {
  let endedAt: number | undefined
  let failure: { readonly error: unknown } | undefined
  const begin = (): AsyncIterator<Uint8Array> => {
    const chunks = content[Symbol.asyncIterator]()
    return {
      async next() {
        try {
          const result = await chunks.next()
          if (result.done) endedAt = performance.now()
          return result
        } catch (error) {
          failure = { error }
          throw error
        }
      },
      async return(value?: unknown) {
        await chunks.return?.()
        return { done: true, value }
      },
    }
  }
  return {
    content: { [Symbol.asyncIterator]: begin },
    endedAt: () => endedAt,
    hasFailedWith: (error: unknown) => failure !== undefined && failure.error === error,
  }
}

/** What becomes of uploads in pieces. Continued: a further piece came. */
export const uploadEvents = ['begun', 'continued', 'published', 'discarded', 'expired'] as const

export type UploadEvent = (typeof uploadEvents)[number]

/** `uploads` with its durations reported, and `onEvent` called for what becomes of them. */
export function watchResumable(
  uploads: ResumableUploads,
  { timed, taking }: StoreTimer,
  onEvent: (event: UploadEvent) => void,
): NonNullable<BlobStore['resumable']> {
  return {
    ...uploads,
    async begin(customer, plan) {
      const upload = await timed('begin', () => uploads.begin(customer, plan))
      onEvent('begun')
      return upload
    },
    state: (key) => timed('state', () => uploads.state(key)),
    append(key, offset, content, options = {}) {
      let isContinued = offset === 0
      const onState = (upload: ResumableUpload) => {
        if (!isContinued && upload.offset > offset) {
          isContinued = true
          onEvent('continued')
        }
        options.onState?.(upload)
      }
      return taking('append', content, options.signal, (watched) =>
        uploads.append(key, offset, watched, { ...options, onState }),
      )
    },
    async publish(key) {
      const info = await timed('publish', () => uploads.publish(key))
      onEvent('published')
      return info
    },
    async remember(...given) {
      const upload = await uploads.remember(...given)
      onEvent('begun')
      onEvent('published')
      return upload
    },
    async discard(key) {
      const isDiscarded = await timed('discard', () => uploads.discard(key))
      if (isDiscarded) onEvent('discarded')
      return isDiscarded
    },
  }
}
