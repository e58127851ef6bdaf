import { isHoldfastError, type UploadOptions } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { hasContent } from '../api/files.ts'
import { assertReadable } from './assert-readable.ts'
import type { RateMeter } from './rate-meter.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadItem } from './upload-item.ts'
import type { Transport } from './upload-queue.ts'

/** The client sends files from this size on in pieces. Smaller ones can be compared with what is there. */
const inPiecesFrom = 16 * 1024 * 1024
/** How often the progress of an upload in pieces is noted in the browser. */
const noteEvery = 4 * 1024 * 1024

interface Context {
  readonly unfinished: UnfinishedUploads
  readonly rate: RateMeter
  readonly settle: (name: string) => Promise<void>
}

interface Attempt {
  readonly item: UploadItem
  readonly name: string
  readonly signal: AbortSignal
  readonly onSent: (bytes: number) => void
}

export interface UploadTransport extends Transport {
  /** Has the server forget an upload in pieces, by its address. */
  discardAt(address: string): void
}

/** Sends files, large ones in pieces, which survive a broken line and a reload. */
export function createUploadTransport(connection: Connection, context: Context): UploadTransport {
  const { client } = connection
  const { unfinished, rate, settle } = context
  /** The addresses of the uploads in pieces of this visit. */
  const addresses = new Map<UploadItem, string>()
  /** The names under which an attempt ended without an answer: the server may have stored the file. */
  const unanswered = new WeakMap<UploadItem, string>()

  function forget(item: UploadItem): string | undefined {
    const address = addresses.get(item)
    if (address !== undefined) unfinished.forget(address)
    addresses.delete(item)
    return address
  }

  function discardAt(address: string): void {
    client.discardUpload(address).catch(() => {
      // It expires by itself.
    })
  }

  function discard(item: UploadItem): void {
    const address = forget(item)
    if (address !== undefined) discardAt(address)
  }

  /** How an upload that goes in pieces goes on with what an earlier visit or attempt has sent, and is noted for a later one. */
  function inPieces({ item, name, signal, onSent }: Attempt): UploadOptions {
    const { file, replaces } = item
    const known = unfinished.find(file, name)
    let last = 0
    const note = (address: string) => {
      if (signal.aborted) return
      addresses.set(item, address)
      const { size, lastModified } = file
      unfinished.note({ name, size, lastModified, address, sent: last, replaces })
    }
    return {
      // The server keeps what arrives of a request that breaks.
      pieceSize: Infinity,
      uploadUrl: known?.replaces === replaces ? known.address : undefined,
      onUploadUrl(address) {
        // The server has forgotten the earlier one, or it was of another decision.
        if (known && known.address !== address) {
          unfinished.forget(known.address)
          discardAt(known.address)
        }
        note(address)
      },
      onProgress({ sent }) {
        onSent(sent)
        const address = addresses.get(item)
        if (address === undefined || Math.abs(sent - last) < noteEvery) return
        last = sent
        note(address)
      },
    }
  }

  async function send(attempt: Attempt, isLast = false): Promise<void> {
    const { item, name, signal, onSent } = attempt
    const isSmall = item.file.size < inPiecesFrom
    const wasUnanswered = unanswered.get(item) === name
    unanswered.set(item, name)
    try {
      await client.upload(name, item.file, {
        createOnly: !item.replaces,
        signal,
        ...(isSmall ? { onProgress: ({ sent }) => onSent(sent) } : inPieces(attempt)),
      })
      forget(item)
    } catch (error) {
      if (isHoldfastError(error, 'upload-not-found') && !isLast) {
        // Another tab, or time, has ended it.
        if (forget(item) !== undefined) return send(attempt, true)
      }
      // Only a name that is taken says what became of the earlier attempt.
      if (!isHoldfastError(error) || error.status !== 412) throw error
      // Under another name it begins anew.
      discard(item)
      if (wasUnanswered && isSmall) {
        if (await hasContent(connection, name, item.file, signal)) return
      }
      unanswered.delete(item)
      throw error
    }
  }

  return {
    discard,
    discardAt,
    async send(item, signal, onSent) {
      const name = item.name.peek()
      const meter = rate.meter()
      const sent = (bytes: number) => {
        meter(bytes)
        onSent(bytes)
      }
      await settle(name)
      signal.throwIfAborted()
      try {
        await send({ item, name, signal, onSent: sent })
      } catch (error) {
        // Browsers answer as if the line had broken, but another attempt would do no better.
        if (isHoldfastError(error, 'no-answer')) await assertReadable(item.file)
        throw error
      }
    },
  }
}
