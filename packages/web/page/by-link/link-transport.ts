import { isHoldfastError, type LinkClient } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'
import { formatSize } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'
import { createFileSender, type FileSender, type SenderContext } from '../uploads/file-sender.ts'
import { nextName } from '../uploads/upload-queue.ts'
import type { LinkTerms } from '../links/link-terms.ts'

/** Sends files by a link to upload, under names that are free. */
export function createLinkTransport(
  client: LinkClient,
  terms: LinkTerms,
  context: SenderContext,
): FileSender {
  const { isPrefix, maxSize, replace } = terms
  const sender = createFileSender(client, context)

  /** A stranger cannot know which names are taken, so the page tries another one. */
  const sendUnderFreeName: FileSender['send'] = async (item, ...rest) => {
    while (true) {
      try {
        return await sender.send(item, ...rest)
      } catch (error) {
        if (!isTaken(error) || !isPrefix || replace) throw error
        item.name.value = nextName(item.name.peek())
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
