import { ApiError } from '../api/api-error.ts'
import type { Connection } from '../api/connection.ts'
import { hasContent } from '../api/files.ts'
import { discardPieces, uploadInPieces } from '../api/upload-in-pieces.ts'
import { uploadWhole, type UploadRequest } from '../api/upload-whole.ts'
import { assertReadable } from './assert-readable.ts'
import type { RateMeter } from './rate-meter.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadItem } from './upload-item.ts'
import type { Transport } from './upload-queue.ts'

/** Files from this size on are sent in pieces, which survive a broken line and a reload. */
const inPiecesFrom = 16 * 1024 * 1024
/** How often the progress of an upload in pieces is noted in the browser. */
const noteEvery = 4 * 1024 * 1024

interface Context {
  readonly unfinished: UnfinishedUploads
  readonly rate: RateMeter
  readonly settle: (name: string) => Promise<void>
}

/** Sends small files whole, and large ones in pieces. */
export function createUploadTransport(connection: Connection, context: Context): Transport {
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

  function discard(item: UploadItem): void {
    const address = forget(item)
    if (address !== undefined) void discardPieces(connection, address)
  }

  async function sendInPieces(item: UploadItem, request: UploadRequest, isLast = false) {
    const { file, name, replaces, signal } = request
    const known = unfinished.find(file, name)
    const noted = (address: string, sent: number) => {
      if (signal.aborted) return
      addresses.set(item, address)
      const { size, lastModified } = file
      unfinished.note({ name, size, lastModified, address, sent, replaces })
    }
    let last = 0
    try {
      await uploadInPieces(connection, {
        ...request,
        begunAt: known?.replaces === replaces ? known.address : undefined,
        onBegun(address) {
          // The server has forgotten the earlier one, or it was of another decision.
          if (known && known.address !== address) {
            unfinished.forget(known.address)
            void discardPieces(connection, known.address)
          }
          noted(address, last)
        },
        onSent(bytes) {
          request.onSent(bytes)
          const address = addresses.get(item)
          if (address === undefined || Math.abs(bytes - last) < noteEvery) return
          last = bytes
          noted(address, bytes)
        },
      })
      forget(item)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The name was taken meanwhile: under another one it begins anew.
      if (error.status === 412) discard(item)
      // Another tab, or time, has ended it.
      if (error.status !== 404 || forget(item) === undefined || isLast) throw error
      await sendInPieces(item, request, true)
    }
  }

  async function sendWhole(item: UploadItem, request: UploadRequest): Promise<void> {
    const { file, name, signal } = request
    const wasUnanswered = unanswered.get(item) === name
    unanswered.set(item, name)
    try {
      await uploadWhole(connection, request)
    } catch (error) {
      // Only a name that is taken says what became of the earlier attempt.
      if (!(error instanceof ApiError) || error.status !== 412) throw error
      if (wasUnanswered && file.size < inPiecesFrom) {
        if (await hasContent(connection, name, file, signal)) return
      }
      unanswered.delete(item)
      throw error
    }
  }

  async function send(item: UploadItem, request: UploadRequest): Promise<void> {
    if (request.file.size < inPiecesFrom) return sendWhole(item, request)
    try {
      await sendInPieces(item, request)
    } catch (error) {
      // A store that keeps no pieces.
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      await sendWhole(item, request)
    }
  }

  return {
    discard,
    async send(item, signal, onSent) {
      const { file, replaces } = item
      const name = item.name.peek()
      const meter = rate.meter()
      const sent = (bytes: number) => {
        meter(bytes)
        onSent(bytes)
      }
      await settle(name)
      signal.throwIfAborted()
      try {
        await send(item, { file, name, replaces, signal, onSent: sent })
      } catch (error) {
        // Browsers answer as if the line had broken, but another attempt would do no better.
        if (error instanceof ApiError && error.status === 0) await assertReadable(file)
        throw error
      }
    },
  }
}
