import { effect, signal, type ReadonlySignal } from '@preact/signals'
import { ApiError } from '../api/api-error.ts'
import type { Connection } from '../api/connection.ts'
import { readEntry } from '../api/files.ts'
import type { FileEntry } from '../api/file-entry.ts'
import { discardPieces, uploadInPieces } from '../api/upload-in-pieces.ts'
import { uploadWhole } from '../api/upload-whole.ts'
import { createRateMeter, type RateMeter } from './rate-meter.ts'
import { keepScreenOn } from './keep-screen-on.ts'
import { openUnfinishedUploads, type UnfinishedUploads } from './unfinished-uploads.ts'
import { createUploadQueue, type Transport, type UploadQueue } from './upload-queue.ts'
import type { UploadItem } from './upload-item.ts'

/** Files from this size on are sent in pieces, which survive a broken line and a reload. */
const inPiecesFrom = 16 * 1024 * 1024
/** How often the progress of an upload in pieces is noted in the browser. */
const noteEvery = 4 * 1024 * 1024

export interface Uploads extends UploadQueue {
  readonly unfinished: UnfinishedUploads
  /** Forgets an upload that an earlier visit has begun. */
  abandon(address: string): void
  readonly rate: RateMeter
  /** Whether anything is under way. */
  readonly isBusy: ReadonlySignal<boolean>
}

interface Context {
  readonly onStored: (file: FileEntry) => void
  readonly onIdle: () => void
}

/** The uploads of a customer: the queue, and what the browser does while it is busy. */
export function createUploads(connection: Connection, { onStored, onIdle }: Context): Uploads {
  const unfinished = openUnfinishedUploads(connection.customer, localStorage)
  const rate = createRateMeter()
  const isBusy = signal(false)
  const queue = createUploadQueue({
    transport: createTransport(connection, unfinished, rate),
    onStored: (item) => void readEntry(connection, item.name.peek()).then(onStored, () => {}),
    onIdle,
  })
  const endWatching = effect(() => {
    isBusy.value = queue.items.value.some(({ state }) =>
      ['waiting', 'running', 'retrying'].includes(state.value.kind),
    )
  })
  const letScreenSleep = keepScreenOn(isBusy)
  const warn = (event: BeforeUnloadEvent) => {
    if (isBusy.peek()) event.preventDefault()
  }
  addEventListener('beforeunload', warn)
  const resumeAll = () => {
    for (const item of queue.items.peek())
      if (item.state.peek().kind === 'retrying') queue.resume(item)
  }
  addEventListener('online', resumeAll)
  return {
    ...queue,
    unfinished,
    rate,
    isBusy,
    abandon(address) {
      unfinished.forget(address)
      void discardPieces(connection, address)
    },
    end() {
      queue.end()
      unfinished.clear()
      endWatching()
      letScreenSleep()
      removeEventListener('beforeunload', warn)
      removeEventListener('online', resumeAll)
    },
  }
}

function createTransport(
  connection: Connection,
  unfinished: UnfinishedUploads,
  rate: RateMeter,
): Transport {
  /** The addresses of the uploads in pieces of this visit. */
  const addresses = new Map<UploadItem, string>()

  async function sendInPieces(item: UploadItem, request: Parameters<typeof uploadWhole>[1]) {
    const { file, name, replaces } = request
    const known = unfinished.find(file, name)
    const noted = (address: string, sent: number) => {
      addresses.set(item, address)
      const { size, lastModified } = file
      unfinished.note({ name, size, lastModified, address, sent, replaces })
    }
    const done = () => {
      const address = addresses.get(item)
      if (address !== undefined) unfinished.forget(address)
      addresses.delete(item)
    }
    let last = 0
    try {
      await uploadInPieces(connection, {
        ...request,
        begunAt: known?.replaces === replaces ? known.address : undefined,
        onBegun: (address) => noted(address, last),
        onSent(bytes) {
          request.onSent(bytes)
          const address = addresses.get(item)
          if (address === undefined || Math.abs(bytes - last) < noteEvery) return
          last = bytes
          noted(address, bytes)
        },
      })
      done()
    } catch (error) {
      // The name was taken meanwhile: under another one it begins anew.
      if (error instanceof ApiError && error.status === 412) done()
      throw error
    }
  }

  return {
    async send(item, signal, onSent) {
      const { file } = item
      const meter = rate.meter()
      const sent = (bytes: number) => {
        meter(bytes)
        onSent(bytes)
      }
      const request = {
        file,
        name: item.name.peek(),
        replaces: item.replaces,
        signal,
        onSent: sent,
      }
      if (file.size < inPiecesFrom) return uploadWhole(connection, request)
      try {
        await sendInPieces(item, request)
      } catch (error) {
        // A store that keeps no pieces.
        if (!(error instanceof ApiError) || error.status !== 404) throw error
        await uploadWhole(connection, request)
      }
    },
    discard(item) {
      const address = addresses.get(item)
      if (address === undefined) return
      addresses.delete(item)
      unfinished.forget(address)
      void discardPieces(connection, address)
    },
  }
}
