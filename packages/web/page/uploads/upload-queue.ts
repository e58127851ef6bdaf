import { batch, type ReadonlySignal } from '@preact/signals'
import { isHoldfastError, isTransient, numberedName } from '@holdfast/client/browser'
import { isRefusedLogin } from '../api/connection.ts'
import { afterTime, type AfterTime } from '../browser/storage-and-timers.ts'
import { type UploadItem, createUploadList, type UploadCounts } from './upload-item.ts'

export type Decision = 'keep-both' | 'replace' | 'skip'

export interface UploadQueue {
  readonly items: ReadonlySignal<readonly UploadItem[]>
  /** How many there are in each state, so that readers need not watch thousands of items. */
  readonly counts: ReadonlySignal<UploadCounts>
  readonly add: (files: readonly { readonly file: File; readonly name: string }[]) => void
  /** Stops uploads, and postpones questions about names that are taken; `resume` continues. */
  readonly pause: (...items: readonly UploadItem[]) => void
  /** Continues uploads that were paused, have failed, or wait for a retry. */
  readonly resume: (...items: readonly UploadItem[]) => void
  /** Stops uploads for good and takes them out of the queue. */
  readonly cancel: (...items: readonly UploadItem[]) => void
  /** Decides about an upload whose name is taken; with `isForAll` about all in the queue now, even if their conflicts come later. */
  readonly decide: (item: UploadItem, decision: Decision, isForAll: boolean) => void
  /** Continues after the password was refused and renewed. */
  readonly proceed: () => void
  /** Removes finished uploads. */
  readonly clear: () => void
  readonly end: () => void
}

export interface UploadTransport {
  /**
   * Sends the file.
   *
   * @throws HoldfastError, with status 412 if the name is taken and `replaces` is not set
   */
  send(item: UploadItem, signal: AbortSignal, onSent: (bytes: number) => void): Promise<void>
  /** Discards what a cancelled upload has left on the server. */
  discard(item: UploadItem): void
}

export interface QueueOptions {
  readonly transport: UploadTransport
  readonly onStored: (item: UploadItem) => void
  /** Called when no upload is running any more. */
  readonly onIdle: () => void
  /** Default: as `setTimeout`. */
  readonly after?: AfterTime
  /** The most uploads at a time. */
  readonly concurrency?: number
  /** How much of an upload's place a file takes; small ones may share one. Default: 1. */
  readonly shareOf?: (item: UploadItem) => number
}

const retryMs = [1000, 2000, 4000, 8000, 15_000, 30_000]
const mostFailures = 12

/** Uploads several files at a time, and retries after a broken connection. */
export function createUploadQueue(options: QueueOptions): UploadQueue {
  const {
    transport,
    onStored,
    onIdle,
    concurrency = 3,
    shareOf = () => 1,
    after = afterTime,
  } = options
  const list = createUploadList()
  const { items, counts, set, isIn, remove } = list
  /** Stops an item that is running or waits for a retry. */
  const stops = new Map<UploadItem, () => void>()
  /** Uploads refused for the password. While there are any, nothing else is sent: each request would count as a guess. */
  const refused = new Set<UploadItem>()
  /** A decision for all the uploads that existed when it was made. */
  let standingDecision: { readonly decision: Decision; readonly last: number } | undefined
  let isEnded = false

  const stop = (item: UploadItem) => {
    stops.get(item)?.()
    stops.delete(item)
  }

  function startNext(): void {
    const { running, waiting } = counts.peek()
    if (running === 0 && waiting === 0) onIdle()
    if (refused.size > 0 || waiting === 0) return
    let free = concurrency
    for (const item of stops.keys()) if (isIn(item, 'running')) free -= shareOf(item)
    for (const item of items.peek()) {
      // The shares may be fractions.
      if (free < 1e-6) return
      if (!isIn(item, 'waiting')) continue
      free -= shareOf(item)
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
    // A refused upload that may replace is no conflict: the question would come again and again.
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
      if (standingDecision && item.id <= standingDecision.last)
        apply([item], standingDecision.decision)
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
      // A dropped folder may still be read after signing out.
      if (isEnded) return
      list.add(files)
      startNext()
    },
    pause(...paused) {
      batch(() => {
        for (const item of paused) {
          if (!isIn(item, 'running', 'waiting', 'retrying', 'conflict')) continue
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
      if (isForAll) standingDecision = { decision, last: items.peek().at(-1)?.id ?? 0 }
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

/**
 * The next name to try after `name` is taken: `report.txt`, then `report (2).txt`, `report (3).txt`. A longer number than of nine digits
 * is none that counts: from some length on, the next one would be the same.
 */
export function nextName(name: string): string {
  const [, digits] = / \((\d{1,9})\)(?:\.[^.]*)?$/.exec(name) ?? []
  const plain = digits === undefined ? name : name.replace(/ \(\d+\)(\.[^.]*)?$/, '$1')
  return numberedName(plain, Number(digits ?? 1) + 1)
}
