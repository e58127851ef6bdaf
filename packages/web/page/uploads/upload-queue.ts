import { batch, type ReadonlySignal } from '@preact/signals'
import { isHoldfastError, isTransient, numberedName } from '@holdfast/client/browser'
import { isRefusedLogin } from '../api/requests.ts'
import { afterTime, type AfterTime } from '../browser/after-time.ts'
import { type UploadItem, createUploadList, type UploadCounts } from './upload-item.ts'

export type Decision = 'keep-both' | 'replace' | 'skip'

export interface UploadQueue {
  readonly items: ReadonlySignal<readonly UploadItem[]>
  /** How many there are in each state: what follows it need not follow thousands of items. */
  readonly counts: ReadonlySignal<UploadCounts>
  readonly add: (files: readonly { readonly file: File; readonly name: string }[]) => void
  /** Stops uploads, which `resume` takes up again. */
  readonly pause: (...items: readonly UploadItem[]) => void
  /** Takes up again what was paused, has failed, or waits for another attempt. */
  readonly resume: (...items: readonly UploadItem[]) => void
  /** Stops uploads for good and takes them out of the queue. */
  readonly cancel: (...items: readonly UploadItem[]) => void
  /** What becomes of an upload whose name is taken; of all, now and later, if `isForAll`. */
  readonly decide: (item: UploadItem, decision: Decision, isForAll: boolean) => void
  /** Goes on after the password was refused and renewed. */
  readonly proceed: () => void
  /** Takes out what is done. */
  readonly clear: () => void
  readonly end: () => void
}

export interface Transport {
  /**
   * Sends the file.
   *
   * @throws HoldfastError, with 412 where the name is taken and `replaces` is not set
   */
  send(item: UploadItem, signal: AbortSignal, onSent: (bytes: number) => void): Promise<void>
  /** Forgets what an upload that was cancelled has left. */
  discard(item: UploadItem): void
}

export interface QueueOptions {
  readonly transport: Transport
  readonly onStored: (item: UploadItem) => void
  /** Called when nothing is under way any more. */
  readonly onIdle: () => void
  /** Default: as `setTimeout`. */
  readonly after?: AfterTime
  /** How many are sent at a time. */
  readonly lanes?: number
}

const retryMs = [1000, 2000, 4000, 8000, 15_000, 30_000]
const mostFailures = 12

/** Uploads several files at a time, and tries again what the line has broken off. */
export function createUploadQueue(options: QueueOptions): UploadQueue {
  const { transport, onStored, onIdle, lanes = 3, after = afterTime } = options
  const list = createUploadList()
  const { items, counts, set, isIn, remove } = list
  /** What stops an item that runs, or that waits for another attempt. */
  const stops = new Map<UploadItem, () => void>()
  /** What the server has refused for the password. While there is any, nothing else is sent: each would count as a guess. */
  const refused = new Set<UploadItem>()
  /** A decision for all: for those that were there when it was made. */
  let standing: { readonly decision: Decision; readonly last: number } | undefined
  let isEnded = false

  const stop = (item: UploadItem) => {
    stops.get(item)?.()
    stops.delete(item)
  }

  function startNext(): void {
    const { running, waiting } = counts.peek()
    if (running === 0 && waiting === 0) onIdle()
    if (refused.size > 0 || waiting === 0) return
    let free = lanes - running
    for (const item of items.peek()) {
      if (free <= 0) return
      if (!isIn(item, 'waiting')) continue
      free -= 1
      void run(item)
    }
  }

  async function run(item: UploadItem): Promise<void> {
    const abort = new AbortController()
    stops.set(item, () => abort.abort())
    set(item, { kind: 'running' })
    try {
      await transport.send(item, abort.signal, (bytes) => {
        if (abort.signal.aborted) return
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
    const isTaken = isHoldfastError(error) && error.status === 412
    // A refusal of what may replace is no conflict: it would come again and again.
    if (isTaken && !item.replaces) return meetConflict(item)
    if (isRefusedLogin(error)) {
      refused.add(item)
      return set(item, { kind: 'paused' })
    }
    item.failures += 1
    if (!isTransient(error) || item.failures > mostFailures)
      return set(item, { kind: 'failed', error })
    set(item, { kind: 'retrying' })
    const ms = retryMs[Math.min(item.failures, retryMs.length) - 1] ?? 0
    const retry = () => {
      enqueue(item)
      startNext()
    }
    stops.set(item, after(Math.max(ms, (error.retryAfter ?? 0) * 1000), retry))
  }

  function enqueue(item: UploadItem): void {
    stops.delete(item)
    refused.delete(item)
    set(item, { kind: 'waiting' })
  }

  function meetConflict(item: UploadItem): void {
    item.sent.value = 0
    batch(() => {
      set(item, { kind: 'conflict' })
      if (standing && item.id <= standing.last) apply([item], standing.decision)
    })
  }

  function apply(concerned: readonly UploadItem[], decision: Decision): void {
    if (decision === 'skip') return remove(new Set(concerned))
    for (const item of concerned) {
      if (decision === 'replace') item.replaces = true
      else item.name.value = nextName(item.name.peek())
      set(item, { kind: 'waiting' })
    }
  }

  return {
    items,
    counts,
    add(files) {
      // A folder that was dropped may be read until after signing out.
      if (isEnded) return
      list.add(files)
      startNext()
    },
    pause(...paused) {
      batch(() => {
        for (const item of paused) {
          if (!isIn(item, 'running', 'waiting', 'retrying')) continue
          stop(item)
          set(item, { kind: 'paused' })
        }
      })
      startNext()
    },
    resume(...resumed) {
      batch(() => {
        for (const item of resumed) {
          if (!isIn(item, 'paused', 'failed', 'retrying')) continue
          stop(item)
          item.failures = 0
          if (refused.has(item)) continue
          enqueue(item)
        }
      })
      startNext()
    },
    cancel(...cancelled) {
      for (const item of cancelled) {
        stop(item)
        refused.delete(item)
        if (!isIn(item, 'done')) transport.discard(item)
      }
      remove(new Set(cancelled))
      startNext()
    },
    decide(item, decision, isForAll) {
      if (isForAll) standing = { decision, last: items.peek().at(-1)?.id ?? 0 }
      const concerned = (isForAll ? items.peek() : [item]).filter((each) => isIn(each, 'conflict'))
      batch(() => apply(concerned, decision))
      startNext()
    },
    proceed() {
      batch(() => [...refused].forEach(enqueue))
      startNext()
    },
    clear() {
      remove(new Set(items.peek().filter((item) => isIn(item, 'done'))))
    },
    end() {
      isEnded = true
      for (const item of items.peek()) stop(item)
      refused.clear()
      remove(new Set(items.peek()))
    },
  }
}

/** `report.txt`, then `report (2).txt`, `report (3).txt`, as long as the server says that they are taken. */
export function nextName(name: string): string {
  const [, digits] = / \((\d+)\)(?:\.[^.]*)?$/.exec(name) ?? []
  const plain = digits === undefined ? name : name.replace(/ \(\d+\)(\.[^.]*)?$/, '$1')
  return numberedName(plain, Number(digits ?? 1) + 1)
}
