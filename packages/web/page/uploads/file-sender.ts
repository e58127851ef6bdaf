import {
  isHoldfastError,
  type LinkClient,
  type UploadOptions,
  type Client,
  type FileToUpload,
} from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'
import { type RateMeter, type UploadItem } from './upload-item.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadTransport } from './upload-queue.ts'

/** From this size on the client sends files in pieces. Smaller ones are read before, and can be compared with the server's. */
export const inPiecesFrom = 4 * 1024 * 1024

/** Bytes between two records of an upload's progress in the browser. */
const recordEvery = 4 * 1024 * 1024

export interface SenderContext {
  readonly unfinished: UnfinishedUploads
  readonly rate: RateMeter
}

/** A transport that sends large files in pieces, which survive a broken connection and a reload. */
export interface FileSender extends UploadTransport {
  /** Discards an upload in pieces on the server, by its address. */
  discardAt(address: string): void
}

type OnSent = (bytes: number) => void

/** Sends files with a customer's client, or with that of a link. */
export function createFileSender(client: LinkClient, context: SenderContext): FileSender {
  const { unfinished, rate } = context
  /** The addresses of the uploads in pieces of this visit. */
  const addresses = new Map<UploadItem, string>()
  /** The addresses of earlier uploads that running items try to continue. */
  const tried = new Map<UploadItem, string>()

  /** Whether another item sends to this address: the same file may have been added twice. */
  function isOfAnother(item: UploadItem, address: string): boolean {
    return [...addresses, ...tried].some(([other, used]) => other !== item && used === address)
  }

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

  /** The options by which an upload in pieces continues what an earlier visit or attempt has sent, and is recorded for a later one. */
  async function inPieces(
    item: UploadItem,
    signal: AbortSignal,
    onSent: OnSent,
  ): Promise<UploadOptions> {
    const { file, replaces } = item
    const name = item.name.peek()
    const found = unfinished.find(file, name, (address) => !isOfAnother(item, address))
    if (found) tried.set(item, found.address)
    const known = found && (await unfinished.claim(found.address)) ? found : undefined
    // Another file may have the same size and time, so compare what an earlier visit has sent.
    const isEarlier = known !== undefined && addresses.get(item) !== known.address
    const sha256 = isEarlier ? (await import('@noble/hashes/sha2.js')).sha256 : undefined
    let last = 0
    const record = (address: string) => {
      if (signal.aborted) return
      addresses.set(item, address)
      const { size, lastModified } = file
      unfinished.record({ name, size, lastModified, address, sent: last, replaces })
    }
    return {
      // If the file was written to while it was sent, the server would store a mixture of the old and the new content.
      beforeLast: () => assertReadable(file),
      uploadUrl: known?.replaces === replaces ? known.address : undefined,
      createSha256: sha256 && (() => sha256.create()),
      onUploadUrl(address) {
        // The server does not know the earlier upload any more, or the user has decided otherwise since.
        if (known && known.address !== address) {
          unfinished.forget(known.address)
          discardAt(known.address)
        }
        record(address)
      },
      onProgress({ sent }) {
        onSent(sent)
        const address = addresses.get(item)
        if (address === undefined || Math.abs(sent - last) < recordEvery) return
        last = sent
        record(address)
      },
    }
  }

  async function send(item: UploadItem, signal: AbortSignal, onSent: OnSent): Promise<void> {
    const createOnly = !item.replaces
    const options = await inPieces(item, signal, onSent)
    const content = item.file.size < inPiecesFrom ? await readWhole(item.file) : item.file
    await client.upload(item.name.peek(), content, { createOnly, signal, ...options })
    forget(item)
  }

  return {
    discard,
    discardAt,
    async send(item, signal, onSent) {
      const { size } = item.file
      // What goes in pieces may continue an earlier upload.
      const meter = rate.meter(size < inPiecesFrom ? 0 : undefined)
      const sent = (bytes: number) => {
        meter.sent(bytes)
        onSent(bytes)
      }
      try {
        await send(item, signal, sent).catch((error: unknown) => {
          // Another tab, or its expiry, has ended the upload.
          const isGone = isHoldfastError(error, 'upload-not-found') && forget(item) !== undefined
          if (isGone) return send(item, signal, sent)
          throw error
        })
        meter.stored(size)
      } catch (error) {
        // Under another name the upload starts again.
        if (isHoldfastError(error) && error.status === 412) discard(item)
        // Browsers report this as a broken connection, but a retry would not help.
        if (isHoldfastError(error, 'no-answer')) await assertReadable(item.file)
        throw error
      } finally {
        const address = tried.get(item)
        tried.delete(item)
        if (address !== undefined && address !== addresses.get(item)) unfinished.release(address)
      }
    },
  }
}

/** @throws ExplainedError `errorUnreadable` if the browser can no longer read `file`, or finds that it has changed since it was chosen. */
async function assertReadable(file: File): Promise<void> {
  await read(file.slice(0, 1))
}

/**
 * Reads a file that fits into memory. A file that the browser may not read has size 0, and only reading all of it fails.
 *
 * @throws ExplainedError `errorUnreadable` if it cannot be read, or has changed since it was chosen or while it was read
 */
export async function readWhole(file: File): Promise<Blob> {
  const content = await read(file)
  await assertReadable(file)
  if (content.byteLength !== file.size) throw unreadable()
  return new Blob([content], { type: file.type })
}

async function read(part: Blob): Promise<ArrayBuffer> {
  try {
    return await part.arrayBuffer()
  } catch (cause) {
    throw unreadable({ cause })
  }
}

/** The error for a file that was changed, moved or made unreadable since it was chosen. */
function unreadable(options?: ErrorOptions): ExplainedError {
  return new ExplainedError('errorUnreadable', {}, options)
}

/** Files of up to so many bytes share a request. */
export const smallSize = 256 * 1024
/** How long a file waits for others, in ms. */
const gatherMs = 30
/** The most files of a request, and about the most bytes: what was cancelled meanwhile may be stored with it. */
const mostTogether = { files: 100, bytes: 2 * 1024 ** 2 }

/** A file that waits for its request, or for its own result. */
interface Sending {
  readonly file: FileToUpload
  readonly signal: AbortSignal
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function sizeOf({ body }: FileToUpload): number {
  if (body instanceof Blob) return body.size
  return body instanceof Uint8Array ? body.length : 0
}

/** Stores a small file, together with others that are sent at the same time; each has its own result. */
export type SendTogether = (file: FileToUpload, signal: AbortSignal) => Promise<void>

/** Makes a function that stores new files, several in a request; a name that is taken fails with status 412. */
export function createSendTogether(client: Pick<Client, 'uploadMany'>): SendTogether {
  let gathered: Sending[] = []

  async function sendGathered(): Promise<void> {
    const sent = gathered.filter(({ signal }) => !signal.aborted)
    gathered = []
    if (sent.length === 0) return
    const ended = new AbortController()
    const wanted = new Set(sent)
    for (const each of sent) {
      each.signal.addEventListener('abort', () => {
        each.reject(each.signal.reason)
        wanted.delete(each)
        // The others are still wanted.
        if (wanted.size === 0) ended.abort()
      })
    }
    const open = [...sent]
    try {
      const files = sent.map(({ file }) => file)
      for await (const { name, error } of client.uploadMany(files, {
        createOnly: true,
        signal: ended.signal,
      })) {
        // A file whose outcome is unknown has no result, though later ones may have theirs.
        const at = open.findIndex(({ file }) => file.name === name)
        for (const each of at < 0 ? [] : open.splice(at, 1)) {
          wanted.delete(each)
          if (error) each.reject(error)
          else each.resolve()
        }
      }
    } catch (error) {
      for (const { reject } of open) reject(error)
    }
  }

  return (file, signal) =>
    new Promise((resolve, reject) => {
      gathered.push({ file, signal, resolve, reject })
      if (gathered.length === 1) setTimeout(() => void sendGathered(), gatherMs)
      const bytes = gathered.reduce((sum, each) => sum + sizeOf(each.file), 0)
      if (gathered.length === mostTogether.files || bytes >= mostTogether.bytes) void sendGathered()
    })
}
