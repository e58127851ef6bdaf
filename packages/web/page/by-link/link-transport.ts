import { isHoldfastError, type LinkClient } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'
import { formatSize } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'
import {
  createFileSender,
  inPiecesFrom,
  type FileSender,
  type SenderContext,
} from '../uploads/file-sender.ts'
import type { UploadItem } from '../uploads/upload-item.ts'
import { nextName } from '../uploads/upload-queue.ts'
import type { LinkTerms } from '../links/link-terms.ts'

/** Sends files by a link to upload, under names that are free. */
export function createLinkTransport(
  client: LinkClient,
  terms: LinkTerms,
  context: SenderContext,
): FileSender {
  const { customer, isPrefix, maxSize, replace } = terms
  const sender = createFileSender(client, context)

  /** The names under which an attempt got no answer. Not of large files: for those the server reports what has arrived. */
  const unanswered = new WeakMap<UploadItem, string>()

  /** A stranger cannot know which names are taken, so the page tries another one. */
  const sendUnderFreeName: FileSender['send'] = async (item, signal, onSent) => {
    while (true) {
      const name = item.name.peek()
      try {
        return await sender.send(item, signal, onSent)
      } catch (error) {
        const isSmall = item.file.size < inPiecesFrom
        // The name, or the last place of the link, may be taken by this very file, and the link cannot read it.
        const mayBeOwn = unanswered.get(item) === name && !replace && isRefusedAsStored(error)
        if (mayBeOwn) {
          // If the user tries again, the file gets another name.
          unanswered.delete(item)
          throw new ExplainedError('linkUnsure', { customer }, { cause: error })
        }
        if (isSmall && isWithoutAnswer(error, signal)) unanswered.set(item, name)
        if (!isTaken(error) || !isPrefix || replace) throw error
        item.name.value = nextName(name)
      }
    }
  }

  return {
    ...sender,
    async send(item, ...rest) {
      if (maxSize !== undefined && item.file.size > maxSize) throw tooLarge(maxSize)
      item.replaces = replace
      try {
        await sendUnderFreeName(item, ...rest)
      } catch (error) {
        throw explained(error, terms)
      }
    },
  }
}

function isTaken(error: unknown): boolean {
  return isHoldfastError(error) && error.status === 412
}

/** Whether a file that has arrived would be refused so when it is sent again. */
function isRefusedAsStored(error: unknown): boolean {
  return isTaken(error) || isHoldfastError(error, 'quota-exceeded')
}

/** Whether the server may have stored the file, though the page got no answer of it. */
function isWithoutAnswer(error: unknown, { aborted }: AbortSignal): boolean {
  if (!isHoldfastError(error)) return aborted
  // The last two come from a proxy.
  return error.code === 'no-answer' || error.status === 502 || error.status === 504
}

function tooLarge(maxSize: number): ExplainedError {
  return new ExplainedError('linkTooLarge', { size: formatSize(maxSize, language.peek()) })
}

/** Explains the API's errors to a stranger. */
function explained(error: unknown, { customer }: LinkTerms): unknown {
  if (isHoldfastError(error, 'link-refused'))
    return new ExplainedError('linkEnded', {}, { cause: error })
  if (isTaken(error)) return new ExplainedError('linkUsed', {}, { cause: error })
  if (isHoldfastError(error, 'quota-exceeded')) {
    return new ExplainedError('linkFull', { customer }, { cause: error })
  }
  return error
}
