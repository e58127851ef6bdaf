import { computed, type ReadonlySignal, effect } from '@preact/signals'
import type { FileSender, SenderContext } from './file-sender.ts'
import type { RateMeter } from './progress.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import { createUploadQueue, type QueueOptions, type UploadQueue } from './upload-queue.ts'

export interface Uploads extends UploadQueue {
  readonly unfinished: UnfinishedUploads
  /** Discards an upload that an earlier visit has begun. */
  abandon(address: string): void
  readonly rate: RateMeter
  /** Whether any upload is running. */
  readonly isBusy: ReadonlySignal<boolean>
}

interface RunOptions extends QueueOptions, SenderContext {
  readonly transport: FileSender
}

/** Makes a queue, and does what the browser must do while it is busy. */
export function runUploads({ unfinished, rate, ...options }: RunOptions): Uploads {
  const { transport } = options
  const queue = createUploadQueue(options)
  const isBusy = computed(() => {
    const { waiting, running, retrying } = queue.counts.value
    return waiting + running + retrying > 0
  })
  const letScreenSleep = keepScreenOn(isBusy)
  const warn = (event: BeforeUnloadEvent) => {
    if (isBusy.peek()) event.preventDefault()
  }
  addEventListener('beforeunload', warn)
  const resumeAll = () => {
    queue.resume(...queue.items.peek().filter(({ state }) => state.peek().kind === 'retrying'))
  }
  addEventListener('online', resumeAll)
  return {
    ...queue,
    unfinished,
    rate,
    isBusy,
    abandon(address) {
      unfinished.forget(address)
      transport.discardAt(address)
    },
    end() {
      for (const item of queue.items.peek()) {
        if (item.state.peek().kind !== 'done') transport.discard(item)
      }
      queue.end()
      unfinished.clear()
      letScreenSleep()
      removeEventListener('beforeunload', warn)
      removeEventListener('online', resumeAll)
    },
  }
}

/** Keeps the screen on while `isBusy`, if the browser can: sleeping phones break off their uploads. */
function keepScreenOn(isBusy: ReadonlySignal<boolean>): () => void {
  let lock: Promise<WakeLockSentinel | undefined> | undefined
  const take = () => {
    if (!('wakeLock' in navigator) || document.visibilityState !== 'visible') return
    lock = navigator.wakeLock.request('screen').catch(() => undefined)
  }
  const release = () => {
    void lock?.then((held) => held?.release())
    lock = undefined
  }
  // The browser releases the lock when the page is hidden.
  const takeAgain = () => {
    if (isBusy.peek()) take()
  }
  document.addEventListener('visibilitychange', takeAgain)
  const end = effect(() => (isBusy.value ? take() : release()))
  return () => {
    end()
    release()
    document.removeEventListener('visibilitychange', takeAgain)
  }
}
