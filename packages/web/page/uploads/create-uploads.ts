import { computed, type ReadonlySignal } from '@preact/signals'
import type { Connection } from '../api/connection.ts'
import type { FileDetails } from '@holdfast/client/browser'
import { openStorage } from '../app/open-storage.ts'
import { createRateMeter, type RateMeter } from './rate-meter.ts'
import { keepScreenOn } from './keep-screen-on.ts'
import { openUnfinishedUploads, type UnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadItem } from './upload-item.ts'
import { createUploadQueue, type UploadQueue } from './upload-queue.ts'
import { createUploadTransport } from './upload-transport.ts'

export interface Uploads extends UploadQueue {
  readonly unfinished: UnfinishedUploads
  /** Forgets an upload that an earlier visit has begun. */
  abandon(address: string): void
  readonly rate: RateMeter
  /** Whether anything is under way. */
  readonly isBusy: ReadonlySignal<boolean>
}

interface Context {
  readonly onStored: (file: FileDetails) => void
  readonly onIdle: () => void
  /** What must have ended before a file gets the name. */
  readonly settle: (name: string) => Promise<void>
  /** What was to become of the file that had the name does not concern the new one. */
  readonly spare: (name: string) => void
}

/** The uploads of a customer: the queue, and what the browser does while it is busy. */
export function createUploads(connection: Connection, context: Context): Uploads {
  const { onStored, onIdle, settle, spare } = context
  const storage = openStorage(() => localStorage)
  const unfinished = openUnfinishedUploads(connection.customer, storage)
  const rate = createRateMeter()
  const transport = createUploadTransport(connection, { unfinished, rate, settle })
  const queue = createUploadQueue({
    transport,
    onStored(item) {
      spare(item.name.peek())
      void entryOf(connection, item).then(onStored)
    },
    onIdle,
  })
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

/** What the list shows of a file that has been stored: what the server says, or else what is known here. */
async function entryOf({ client }: Connection, { name, file }: UploadItem): Promise<FileDetails> {
  const stored = name.peek()
  return client.stat(stored, { isRounded: true }).catch(() => ({
    name: stored,
    size: file.size,
    modified: new Date().toISOString(),
    type: file.type,
    etag: '',
  }))
}
