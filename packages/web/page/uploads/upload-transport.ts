import { isHoldfastError } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { hasContent } from '../api/files.ts'
import { createQuotaExplainer } from './explain-quota.ts'
import {
  createFileSender,
  inPiecesFrom,
  type FileSender,
  type SenderContext,
} from './file-sender.ts'
import type { UploadItem } from './upload-item.ts'

interface Context extends SenderContext {
  readonly settle: (name: string) => Promise<void>
}

/** Sends the files of a customer. */
export function createUploadTransport(connection: Connection, context: Context): FileSender {
  const sender = createFileSender(connection.client, context)
  const explainQuota = createQuotaExplainer(connection)
  /** The names under which an attempt ended without an answer: the server may have stored the file. */
  const unanswered = new WeakMap<UploadItem, string>()

  return {
    ...sender,
    async send(item, signal, onSent) {
      const { file } = item
      const name = item.name.peek()
      const wasUnanswered = unanswered.get(item) === name
      await context.settle(name)
      signal.throwIfAborted()
      unanswered.set(item, name)
      try {
        await sender.send(item, signal, onSent)
      } catch (error) {
        // Only a name that is taken says what became of the earlier attempt.
        if (!isHoldfastError(error) || error.status !== 412) {
          throw await explainQuota(error, file.size)
        }
        const isComparable = wasUnanswered && file.size < inPiecesFrom
        if (isComparable && (await hasContent(connection, name, file, signal))) return
        unanswered.delete(item)
        throw error
      }
    },
  }
}
