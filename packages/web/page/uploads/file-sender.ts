import { isHoldfastError, type LinkClient, type UploadOptions } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'
import type { UnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadItem } from './upload-item.ts'
import type { Transport } from './upload-queue.ts'

/** The client sends files from this size on in pieces. Smaller ones are read before they are sent, and can be compared with the server's. */
export const inPiecesFrom = 4 * 1024 * 1024

/** How often the progress of an upload in pieces is noted in the browser. */
const noteEvery = 4 * 1024 * 1024

export interface SenderContext {
  readonly unfinished: UnfinishedUploads
  readonly rate: RateMeter
}

/** A transport whose large files go in pieces, which survive a broken line and a reload. */
export interface FileSender extends Transport {
  /** Has the server forget an upload in pieces, by its address. */
  discardAt(address: string): void
}

type OnSent = (bytes: number) => void

/** Sends files with the client of a customer, or with that of a link. */
export function createFileSender(client: LinkClient, context: SenderContext): FileSender {
  const { unfinished, rate } = context
  /** The addresses of the uploads in pieces of this visit. */
  const addresses = new Map<UploadItem, string>()

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
  async function inPieces(
    item: UploadItem,
    signal: AbortSignal,
    onSent: OnSent,
  ): Promise<UploadOptions> {
    const { file, replaces } = item
    const name = item.name.peek()
    const known = unfinished.find(file, name)
    // Another file may have the same size and time: what an earlier visit has sent is compared.
    const isEarlier = known !== undefined && addresses.get(item) !== known.address
    const sha256 = isEarlier ? (await import('@noble/hashes/sha2.js')).sha256 : undefined
    let last = 0
    const note = (address: string) => {
      if (signal.aborted) return
      addresses.set(item, address)
      const { size, lastModified } = file
      unfinished.note({ name, size, lastModified, address, sent: last, replaces })
    }
    return {
      // It may have been written to while it was sent: what would be stored then is partly the old one, and partly the new.
      beforeLast: () => assertReadable(file),
      uploadUrl: known?.replaces === replaces ? known.address : undefined,
      createSha256: sha256 && (() => sha256.create()),
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
      const meter = rate.meter()
      const sent = (bytes: number) => {
        meter(bytes)
        onSent(bytes)
      }
      try {
        await send(item, signal, sent).catch((error: unknown) => {
          // Another tab, or time, has ended it.
          const isGone = isHoldfastError(error, 'upload-not-found') && forget(item) !== undefined
          if (isGone) return send(item, signal, sent)
          throw error
        })
      } catch (error) {
        // Under another name it begins anew.
        if (isHoldfastError(error) && error.status === 412) discard(item)
        // Browsers answer as if the line had broken, but another attempt would do no better.
        if (isHoldfastError(error, 'no-answer')) await assertReadable(item.file)
        throw error
      }
    },
  }
}

/** @throws ExplainedError `errorUnreadable` if the browser can no longer read `file`, or finds that it has changed since it was chosen. */
async function assertReadable(file: File): Promise<void> {
  await read(file.slice(0, 1))
}

/**
 * The content of a file that is small enough for the memory. A file that the browser may not read has no size, and only a reading of all of
 * it fails.
 *
 * @throws ExplainedError `errorUnreadable` if it cannot be read, or has changed since it was chosen or while it was read
 */
async function readWhole(file: File): Promise<Blob> {
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

/** The file has been changed, moved or forbidden since it was chosen. */
function unreadable(options?: ErrorOptions): ExplainedError {
  return new ExplainedError('errorUnreadable', {}, options)
}

/** How fast all uploads together are. */
export interface RateMeter {
  /** Takes the progress of one upload, as the bytes that it has sent so far. */
  meter(): (sent: number) => void
  /** Bytes a second, of the last seconds. */
  perSecond(): number
}

const windowMs = 5000

export function createRateMeter(now: () => number = () => performance.now()): RateMeter {
  let samples: { at: number; bytes: number }[] = []
  return {
    meter() {
      let last: number | undefined
      return (sent) => {
        const at = now()
        // What an earlier attempt has sent is not of now.
        const bytes = last === undefined ? 0 : Math.max(0, sent - last)
        last = sent
        samples = [...samples.filter((sample) => at - sample.at < windowMs), { at, bytes }]
      }
    },
    perSecond() {
      const at = now()
      const recent = samples.filter((sample) => at - sample.at < windowMs)
      const [first] = recent
      if (!first) return 0
      const bytes = recent.reduce((sum, sample) => sum + sample.bytes, 0)
      return bytes / Math.max(0.5, (at - first.at) / 1000)
    },
  }
}
