import {
  type Client,
  type FileDetails,
  HoldfastError,
  isHoldfastError,
} from '@holdfast/client/browser'
import { type Connection, hasContent } from '../api/connection.ts'
import { openStorage } from '../browser/storage-and-timers.ts'
import {
  createFileSender,
  inPiecesFrom,
  readWhole,
  type FileSender,
  type SenderContext,
  createSendTogether,
  smallSize,
} from './file-sender.ts'
import { createRateMeter, type RateMeter, type UploadItem } from './upload-item.ts'
import { openUnfinishedUploads, type UnfinishedUploads } from './unfinished-uploads.ts'
import { computed, type ReadonlySignal, effect } from '@preact/signals'
import { createUploadQueue, type QueueOptions, type UploadQueue } from './upload-queue.ts'

interface UploadsContext {
  readonly onStored: (file: FileDetails) => void
  readonly onIdle: () => void
  /** Resolves when work that must end before a file gets the name has ended. */
  readonly finishDeletion: (name: string) => Promise<void>
  /** Whether the list has a file of that name. */
  readonly isListed: (name: string) => boolean
  /** Cancels the pending deletion of the file that had the name: it must not delete the new one. */
  readonly cancelDeletion: (name: string) => void
}

/** How many small files are sent in place of a large one. */
const filesPerPlace = 50

/** The uploads of a customer. */
export function createUploads(connection: Connection, context: UploadsContext): Uploads {
  const { onStored, onIdle, finishDeletion, cancelDeletion, isListed } = context
  const storage = openStorage(() => localStorage)
  const unfinished = openUnfinishedUploads(connection.customer, storage)
  const rate = createRateMeter()
  return runUploads({
    transport: createUploadTransport(connection, { unfinished, rate, finishDeletion, isListed }),
    unfinished,
    rate,
    shareOf: (item) => (isSentTogether(item) ? 1 / filesPerPlace : 1),
    onStored(item) {
      cancelDeletion(item.name.peek())
      void entryOf(connection, item).then(onStored)
    },
    onIdle,
  })
}

/** The entry of the list for a stored file: the server's details, or else what the page knows. */
async function entryOf({ client }: Connection, item: UploadItem): Promise<FileDetails> {
  const { name, file } = item
  const stored = name.peek()
  const known = {
    name: stored,
    size: file.size,
    modified: new Date().toISOString(),
    type: file.type,
    etag: '',
  }
  // Of many small files nothing is asked: the list is compared with the server's soon.
  if (isSentTogether(item)) return known
  return client.stat(stored, { isRounded: true }).catch(() => known)
}

interface CustomerSenderContext extends SenderContext {
  readonly finishDeletion: (name: string) => Promise<void>
  readonly isListed: (name: string) => boolean
}

/** Sends the files of a customer. */
export function createUploadTransport(
  connection: Connection,
  context: CustomerSenderContext,
): FileSender {
  const { client } = connection
  const sender = createFileSender(client, context)
  const sendTogether = createSendTogether(client)
  /** The names under which an attempt ended without an answer: the server may have stored the file. */
  const unanswered = new WeakMap<UploadItem, string>()

  return {
    ...sender,
    async send(item, signal, onSent) {
      const { file } = item
      const name = item.name.peek()
      const wasUnanswered = unanswered.get(item) === name
      await context.finishDeletion(name)
      signal.throwIfAborted()
      // The listed file may be the one that an earlier visit has sent, and whose last answer was lost.
      const mayBeOwn = wasUnanswered || context.unfinished.find(file, name)?.replaces === false
      if (!mayBeOwn && !item.replaces && context.isListed(name))
        await assertFree(client, name, signal)
      unanswered.set(item, name)
      try {
        if (!isSentTogether(item)) return await sender.send(item, signal, onSent)
        const meter = context.rate.meter(0)
        await sendTogether({ name, body: await readWhole(file) }, signal)
        meter.stored(file.size)
      } catch (error) {
        // Only a name that is taken can show the outcome of the earlier attempt.
        if (!isHoldfastError(error) || error.status !== 412) throw error
        const isComparable = wasUnanswered && file.size < inPiecesFrom
        if (isComparable && (await isStored(connection, name, file, signal))) return
        unanswered.delete(item)
        throw error
      }
    },
  }
}

/** Whether a file shares a request with others: one that replaces another is sent alone. */
const isSentTogether = ({ file, replaces }: UploadItem) => file.size <= smallSize && !replaces

/**
 * Asks whether a name that the list has is still taken, before the bytes go. The server decides again.
 *
 * @throws HoldfastError with status 412 if it is taken
 */
async function assertFree(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const present = await client.stat(name, { isRounded: true, signal }).catch(() => undefined)
  signal.throwIfAborted()
  if (present) throw new HoldfastError('already-exists', 'Precondition Failed', { status: 412 })
}

/** Whether the file has arrived; `false` if the login may not read it. */
async function isStored(...asked: Parameters<typeof hasContent>): Promise<boolean> {
  try {
    return await hasContent(...asked)
  } catch (error) {
    if (isHoldfastError(error, 'not-allowed')) return false
    throw error
  }
}

export interface Uploads extends UploadQueue {
  readonly unfinished: UnfinishedUploads
  /** Discards an upload that an earlier visit has begun, unless another tab sends it. */
  abandon(address: string): Promise<void>
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
    async abandon(address) {
      if (!(await unfinished.claim(address))) return
      unfinished.forget(address)
      transport.discardAt(address)
    },
    end() {
      for (const item of queue.items.peek()) {
        if (item.state.peek().kind !== 'done') transport.discard(item)
      }
      queue.end()
      void unfinished.clear()
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
