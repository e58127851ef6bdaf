import { batch, signal, type ReadonlySignal } from '@preact/signals'
import { ApiError, isRefusedLogin, isTransient } from '../api/api-error.ts'
import { numbered } from './name-from-path.ts'
import { createUploadItem, type UploadItem, type UploadState } from './upload-item.ts'

export type Decision = 'keep-both' | 'replace' | 'skip'

export interface UploadQueue {
  readonly items: ReadonlySignal<readonly UploadItem[]>
  readonly add: (files: readonly { readonly file: File; readonly name: string }[]) => void
  /** Stops an upload, which `resume` takes up again. */
  readonly pause: (item: UploadItem) => void
  /** Takes up again what was paused, has failed, or waits for another attempt. */
  readonly resume: (item: UploadItem) => void
  /** Stops an upload for good and takes it out of the queue. */
  readonly cancel: (item: UploadItem) => void
  /** What becomes of an upload whose name is taken; of all, now and later, if `isForAll`. */
  readonly decide: (item: UploadItem, decision: Decision, isForAll: boolean) => void
  /** Takes out what is done. */
  readonly clear: () => void
  readonly end: () => void
}

export interface Transport {
  /**
   * Sends the file.
   *
   * @throws ApiError, with 412 where the name is taken and `replaces` is not set
   */
  send(item: UploadItem, signal: AbortSignal, onSent: (bytes: number) => void): Promise<void>
  /** Forgets what an upload that was cancelled has left. */
  discard(item: UploadItem): void
}

interface QueueOptions {
  readonly transport: Transport
  readonly onStored: (item: UploadItem) => void
  /** Called when nothing is under way any more. */
  readonly onIdle: () => void
  /** Calls back after a time; returns what prevents that. Default: as `setTimeout`. */
  readonly after?: (ms: number, run: () => void) => () => void
  /** How many are sent at a time. */
  readonly lanes?: number
}

const retryMs = [1000, 2000, 4000, 8000, 15_000, 30_000]
const mostFailures = 12

/** Uploads several files at a time, and tries again what the line has broken off. */
export function createUploadQueue(options: QueueOptions): UploadQueue {
  const { transport, onStored, onIdle, lanes = 3, after = afterTime } = options
  const items = signal<readonly UploadItem[]>([])
  /** What stops an item that runs, or that waits for another attempt. */
  const stops = new Map<UploadItem, () => void>()
  let standing: Decision | undefined

  const set = (item: UploadItem, state: UploadState) => (item.state.value = state)
  const isIn = (item: UploadItem, ...kinds: UploadState['kind'][]) =>
    kinds.includes(item.state.peek().kind)
  const remove = (gone: UploadItem) => {
    items.value = items.value.filter((item) => item !== gone)
  }
  const stop = (item: UploadItem) => {
    stops.get(item)?.()
    stops.delete(item)
  }

  function startNext(): void {
    const running = items.peek().filter((item) => isIn(item, 'running')).length
    const waiting = items.peek().filter((item) => isIn(item, 'waiting'))
    for (const item of waiting.slice(0, Math.max(0, lanes - running))) void run(item)
    if (running === 0 && waiting.length === 0) onIdle()
  }

  async function run(item: UploadItem): Promise<void> {
    const abort = new AbortController()
    stops.set(item, () => abort.abort())
    set(item, { kind: 'running' })
    try {
      await transport.send(item, abort.signal, (bytes) => {
        if (bytes > item.sent.peek()) item.failures = 0
        item.sent.value = bytes
      })
      if (abort.signal.aborted) return
      stops.delete(item)
      batch(() => {
        item.sent.value = item.file.size
        set(item, { kind: 'done' })
      })
      onStored(item)
    } catch (error) {
      if (abort.signal.aborted) return
      stops.delete(item)
      fail(item, error)
    }
    startNext()
  }

  function fail(item: UploadItem, error: unknown): void {
    if (error instanceof ApiError && error.status === 412) return meetConflict(item)
    // It goes on with the new password.
    if (isRefusedLogin(error)) return void set(item, { kind: 'paused' })
    item.failures += 1
    const isRetried =
      error instanceof ApiError && isTransient(error) && item.failures <= mostFailures
    if (!isRetried) return void set(item, { kind: 'failed', error })
    set(item, { kind: 'retrying' })
    const ms = retryMs[Math.min(item.failures, retryMs.length) - 1] ?? 0
    stops.set(
      item,
      after(Math.max(ms, (error.retryAfter ?? 0) * 1000), () => enqueue(item)),
    )
  }

  function enqueue(item: UploadItem): void {
    stops.delete(item)
    set(item, { kind: 'waiting' })
    startNext()
  }

  function meetConflict(item: UploadItem): void {
    item.sent.value = 0
    if (standing === undefined) set(item, { kind: 'conflict' })
    else apply(item, standing)
  }

  function apply(item: UploadItem, decision: Decision): void {
    if (decision === 'skip') return remove(item)
    if (decision === 'replace') item.replaces = true
    else item.name.value = nextName(item.name.peek())
    set(item, { kind: 'waiting' })
  }

  return {
    items,
    add(files) {
      // A decision for all is one for the files that were there.
      if (!items.peek().some((item) => !isIn(item, 'done', 'failed'))) standing = undefined
      const added = files.map(({ file, name }) => createUploadItem(file, name))
      items.value = [...items.value, ...added]
      startNext()
    },
    pause(item) {
      if (!isIn(item, 'running', 'waiting', 'retrying')) return
      stop(item)
      set(item, { kind: 'paused' })
      startNext()
    },
    resume(item) {
      if (!isIn(item, 'paused', 'failed', 'retrying')) return
      stop(item)
      item.failures = 0
      enqueue(item)
    },
    cancel(item) {
      stop(item)
      remove(item)
      if (!isIn(item, 'done')) transport.discard(item)
      startNext()
    },
    decide(item, decision, isForAll) {
      if (isForAll) standing = decision
      const concerned = isForAll ? items.peek().filter((each) => isIn(each, 'conflict')) : [item]
      batch(() => concerned.forEach((each) => apply(each, decision)))
      startNext()
    },
    clear() {
      items.value = items.value.filter((item) => !isIn(item, 'done'))
    },
    end() {
      for (const item of items.peek()) stop(item)
      items.value = []
    },
  }
}

/** `report.txt`, then `report (2).txt`, `report (3).txt`, as long as the server says that they are taken. */
export function nextName(name: string): string {
  const [, digits] = / \((\d+)\)(?:\.[^.]*)?$/.exec(name) ?? []
  const plain = digits === undefined ? name : name.replace(/ \(\d+\)(\.[^.]*)?$/, '$1')
  return numbered(plain, Number(digits ?? 1) + 1)
}

function afterTime(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
