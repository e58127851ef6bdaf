import {
  isFileServiceError,
  type BlobKey,
  type BlobStore,
  type History,
  type KeepOptions,
  type RenameOptions,
  type ResumableUpload,
  type ResumableUploads,
} from '@holdfast/core'
import { Gauge, Histogram, type Registry } from 'prom-client'
import type { PurgeReason, ServerWatch } from '../serve/server-watch.ts'
import { createCounts } from './server-metrics.ts'
import type { ClosableStore } from '../stores/open-store.ts'

/** In seconds: from a file in memory to a store shortly before its timeout. */
const durations = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]

/** Codes of failures that are exported from the start, as 0. */
const troubles = ['insufficient-storage', 'store-unavailable', 'unexpected']

/** Codes of errors that are answers of a store, and not failures. */
const answers: readonly string[] = ['already-exists', 'upload-conflict', 'upload-not-found']

/** Metrics of the store, and of the uploads into it. */
export function createStoreMetrics(
  register: Registry,
): Pick<ServerWatch, 'store' | 'onExpired' | 'onPurged' | 'onKept'> {
  const registers = [register]
  const duration = new Histogram({
    name: 'holdfast_store_operation_duration_seconds',
    help: 'How long the store takes: for put after the last byte of the content, for lists until the first page.',
    labelNames: ['operation'],
    buckets: durations,
    registers,
  })
  const errors = createCounts(register, {
    name: 'holdfast_store_errors_total',
    help: 'Operations in which the store failed, by the code of the error.',
    labelNames: ['operation', 'code'],
  })
  let uploads = 0
  new Gauge({
    name: 'holdfast_uploads_under_way',
    help: 'Files that are being stored.',
    registers,
    collect() {
      this.set(uploads)
    },
  })
  const durationOf = Object.fromEntries(
    storeOperations.map((operation) => [operation, duration.labels(operation)]),
  )
  for (const operation of storeOperations) {
    duration.zero({ operation })
    for (const code of troubles) errors(operation, code)
  }

  const inPieces = createCounts(register, {
    name: 'holdfast_uploads_in_pieces_total',
    help: 'Uploads in pieces, by what happened to them.',
    labelNames: ['event'],
  })
  for (const event of uploadEvents) inPieces(event)
  const onEvent = (event: UploadEvent) => inPieces(event).add()

  return {
    ...createKeptMetrics(register),
    onExpired: (uploads) => inPieces('expired').add(uploads),
    store: (store) => {
      const observer: StoreObserver = {
        onDone: (operation, ms) => durationOf[operation]?.observe(ms / 1000),
        onFailed(operation, error) {
          const code = isFileServiceError(error) ? error.code : 'unexpected'
          if (!answers.includes(code)) errors(operation, code).add()
        },
        onUploads(change) {
          uploads += change
        },
      }
      return watchStore(store, observer, onEvent)
    },
  }
}

const purgeReasons: readonly PurgeReason[] = ['outdated', 'surplus', 'space']

/** Metrics of earlier versions and deleted files. */
function createKeptMetrics(register: Registry): Pick<ServerWatch, 'onPurged' | 'onKept'> {
  const purged = createCounts(register, {
    name: 'holdfast_purged_bytes_total',
    help: 'Bytes of earlier versions and deleted files that were removed, by reason.',
    labelNames: ['reason'],
  })
  for (const reason of purgeReasons) purged(reason)
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `holdfast_${name}`, help, registers: [register] })
  const bytes = gauge('kept_bytes', 'Bytes of earlier versions and deleted files.')
  const versions = gauge('kept_versions', 'Earlier versions and deleted files.')
  return {
    onPurged: (reason, count) => purged(reason).add(count),
    onKept(kept) {
      bytes.set(kept.bytes)
      versions.set(kept.blobs)
    },
  }
}

/**
 * `store`, whose durations are reported to `observer`. For calls with content this is the time from the end of the content. For
 * `open` it is the time until the blob can be read, for lists until the first page.
 */
export function watchStore(
  store: ClosableStore,
  observer: StoreObserver,
  onEvent: (event: UploadEvent) => void = () => {},
): ClosableStore {
  const timer = createStoreTimer(observer)
  const { timed, taking } = timer
  const rename = store.rename?.bind(store)
  return {
    ...store,
    put: (key, content, options) =>
      taking('put', content, options?.signal, (watched) => store.put(key, watched, options)),
    open: (key, options) => timed('open', () => store.open(key, options)),
    stat: (key) => timed('stat', () => store.stat(key)),
    delete: (key, options) => timed('delete', () => store.delete(key, options)),
    ...(rename && {
      rename: (key: BlobKey, to: string, options?: RenameOptions & KeepOptions) =>
        timed('rename', () => rename(key, to, options)),
    }),
    usage: (customer) => timed('usage', () => store.usage(customer)),
    list: (customer, options) => watchList('list', store.list(customer, options), timed),
    // One operation for both: they take about as long until the first page.
    listDetails: (customer, options) =>
      watchList('list', store.listDetails(customer, options), timed),
    customers: () => watchList('customers', store.customers(), timed),
    ...(store.history && { history: watchHistory(store.history, timed) }),
    ...(store.resumable && { resumable: watchResumable(store.resumable, timer, onEvent) }),
  }
}

/** `history`, whose changes and lists for clients are timed; an earlier version is opened as a blob is. */
function watchHistory(history: History, timed: StoreTimer['timed']): History {
  return {
    ...history,
    versions: (key, options) => watchList('versions', history.versions(key, options), timed),
    deleted: (customer, options) => watchList('deleted', history.deleted(customer, options), timed),
    open: (key, options) => timed('open', () => history.open(key, options)),
    restore: (key, to, options) => timed('restore', () => history.restore(key, to, options)),
    purge: (customer, before) => timed('purge', () => history.purge(customer, before)),
  }
}

/** `items`; only the first one is timed, since there may be a million. */
function watchList<Item>(
  operation: StoreOperation,
  items: AsyncIterable<Item>,
  timed: StoreTimer['timed'],
): AsyncIterable<Item> {
  const begin = (): AsyncIterator<Item> => {
    const iterator = items[Symbol.asyncIterator]()
    let isFirst = true
    return {
      next() {
        if (!isFirst) return iterator.next()
        isFirst = false
        return timed(operation, () => iterator.next())
      },
      async return(value?: unknown) {
        await iterator.return?.()
        return { done: true, value }
      },
    }
  }
  return { [Symbol.asyncIterator]: begin }
}

/** The operations of a store. */
const storeOperations = [
  'put',
  'open',
  'stat',
  'delete',
  'rename',
  'list',
  'usage',
  'customers',
  'versions',
  'deleted',
  'restore',
  'purge',
  'begin',
  'state',
  'append',
  'publish',
  'discard',
] as const

export type StoreOperation = (typeof storeOperations)[number]

/** Called for the operations of a store. */
export interface StoreObserver {
  /** Called when an operation has succeeded or failed. */
  onDone(operation: StoreOperation, durationMs: number): void
  onFailed(operation: StoreOperation, error: unknown): void
  /** Called when an upload, or a piece of one, has started (1) or ended (-1). */
  onUploads(change: 1 | -1): void
}

/** Measures calls of a store. */
interface StoreTimer {
  readonly timed: <T>(operation: StoreOperation, call: () => Promise<T>) => Promise<T>
  /**
   * For a call with content: its time begins at the end of the content, since before that the client determines the speed. An error
   * of the content, or an abort, is not a failure of the store.
   */
  readonly taking: <T>(
    operation: StoreOperation,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal | undefined,
    call: (content: AsyncIterable<Uint8Array>) => Promise<T>,
  ) => Promise<T>
}

function createStoreTimer(observer: StoreObserver): StoreTimer {
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

/** `content`, and when it has ended, or with which error it has failed. */
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

/** What happens to uploads in pieces. `continued`: a further piece came. */
const uploadEvents = ['begun', 'continued', 'published', 'discarded', 'expired'] as const

export type UploadEvent = (typeof uploadEvents)[number]

/** `uploads`, whose durations are reported, and whose events are passed to `onEvent`. */
function watchResumable(
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
    async publish(key, options) {
      const info = await timed('publish', () => uploads.publish(key, options))
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
