import { isHoldfastError } from '@holdfast/client/browser'
import { ExplainedError } from '../app/explained-error.ts'
import { formatSize } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'
import { assertReadable } from '../uploads/assert-readable.ts'
import { nextName } from '../uploads/next-name.ts'
import type { RateMeter } from '../uploads/rate-meter.ts'
import type { UploadItem } from '../uploads/upload-item.ts'
import type { Transport } from '../uploads/upload-queue.ts'
import type { LinkTerms } from './link-terms.ts'
import { sendBytes } from './send-bytes.ts'
import { discardPieces, sendInPieces } from './send-in-pieces.ts'

/** Files from this size on are sent in pieces, which survive a broken line. */
const inPiecesFrom = 16 * 1024 * 1024

interface LinkTransportOptions {
  readonly terms: LinkTerms
  /** The address of the link. */
  readonly address: URL
  readonly rate: RateMeter
}

/** Sends files by a link to upload, under names that are free. */
export function createLinkTransport({ terms, address, rate }: LinkTransportOptions): Transport {
  const { isPrefix, maxSize, replace } = terms
  const place = placeOf(address, terms)

  /** Where the uploads in pieces of this visit are. */
  const addresses = new Map<UploadItem, string>()

  function discard(item: UploadItem): void {
    const begunAt = addresses.get(item)
    addresses.delete(item)
    if (begunAt !== undefined) void discardPieces(begunAt)
  }

  async function put(item: UploadItem, signal: AbortSignal, onSent: OnSent): Promise<void> {
    const { file } = item
    const name = item.name.peek()
    const inPieces = () =>
      sendInPieces({
        ...{ place, file, name, signal, onSent },
        begunAt: addresses.get(item),
        onBegun: (begunAt) => void addresses.set(item, begunAt),
      })
    if (file.size >= inPiecesFrom && (await inPieces())) return void addresses.delete(item)
    const url = new URL(encodeURIComponent(name), address)
    url.search = address.search
    await sendBytes({ method: 'PUT', url, bytes: file, signal, onSent })
  }

  /** A stranger cannot know which names are taken, so another one is tried. */
  async function putUnderFreeName(item: UploadItem, signal: AbortSignal, onSent: OnSent) {
    while (true) {
      try {
        return await put(item, signal, onSent)
      } catch (error) {
        // Under another name it begins anew.
        if (isTaken(error)) discard(item)
        if (!isTaken(error) || !isPrefix || replace) throw error
        item.name.value = nextName(item.name.peek())
      }
    }
  }

  return {
    discard,
    async send(item, signal, onSent) {
      const { file } = item
      if (maxSize !== undefined && file.size > maxSize) throw tooLarge(maxSize)
      const meter = rate.meter()
      try {
        await putUnderFreeName(item, signal, (bytes) => {
          meter(bytes)
          onSent(bytes)
        })
      } catch (error) {
        // Browsers answer as if the line had broken, but another attempt would do no better.
        if (isHoldfastError(error, 'no-answer')) await assertReadable(file)
        throw explained(error, terms)
      }
    },
  }
}

/** Where uploads in pieces by the link begin. */
function placeOf(address: URL, { name }: LinkTerms): URL {
  const place = new URL('../resumable', address)
  place.search = String(new URLSearchParams({ link: address.searchParams.get('link') ?? '', name }))
  return place
}

type OnSent = (bytes: number) => void

function isTaken(error: unknown): boolean {
  return isHoldfastError(error) && error.status === 412
}

function tooLarge(maxSize: number): ExplainedError {
  return new ExplainedError('linkTooLarge', { size: formatSize(maxSize, language.peek()) })
}

/** What the errors of the API mean to a stranger. */
function explained(error: unknown, { customer }: LinkTerms): unknown {
  if (isHoldfastError(error, 'link-refused'))
    return new ExplainedError('linkEnded', {}, { cause: error })
  if (isTaken(error)) return new ExplainedError('linkUsed', {}, { cause: error })
  if (isHoldfastError(error, 'quota-exceeded')) {
    return new ExplainedError('linkFull', { customer }, { cause: error })
  }
  return error
}
