import { type FileDetails, isHoldfastError } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { openStorage } from '../browser/storage.ts'
import { hasContent } from '../api/requests.ts'
import {
  createFileSender,
  inPiecesFrom,
  type FileSender,
  type SenderContext,
} from './file-sender.ts'
import { createRateMeter } from './progress.ts'
import { openUnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadItem } from './upload-item.ts'
import { runUploads, type Uploads } from './run-uploads.ts'

interface UploadsContext {
  readonly onStored: (file: FileDetails) => void
  readonly onIdle: () => void
  /** Resolves when work that must end before a file gets the name has ended. */
  readonly finishDeletion: (name: string) => Promise<void>
  /** Cancels the pending deletion of the file that had the name: it must not delete the new one. */
  readonly cancelDeletion: (name: string) => void
}

/** The uploads of a customer. */
export function createUploads(connection: Connection, context: UploadsContext): Uploads {
  const { onStored, onIdle, finishDeletion, cancelDeletion } = context
  const storage = openStorage(() => localStorage)
  const unfinished = openUnfinishedUploads(connection.customer, storage)
  const rate = createRateMeter()
  return runUploads({
    transport: createUploadTransport(connection, { unfinished, rate, finishDeletion }),
    unfinished,
    rate,
    onStored(item) {
      cancelDeletion(item.name.peek())
      void entryOf(connection, item).then(onStored)
    },
    onIdle,
  })
}

/** The entry of the list for a stored file: the server's details, or else what the page knows. */
async function entryOf({ client }: Connection, { name, file }: UploadItem): Promise<FileDetails> {
  const stored = name.peek()
  return client.stat(stored, { isRounded: true }).catch(() => ({
    name: stored,
    size: file.size,
    modified: new Date().toISOString(),
    type: file.type,
    etag: '',
  }))
}

interface CustomerSenderContext extends SenderContext {
  readonly finishDeletion: (name: string) => Promise<void>
}

/** Sends the files of a customer. */
export function createUploadTransport(
  connection: Connection,
  context: CustomerSenderContext,
): FileSender {
  const sender = createFileSender(connection.client, context)
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
      unanswered.set(item, name)
      try {
        await sender.send(item, signal, onSent)
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

/** Whether the file has arrived; `false` if the login may not read it. */
async function isStored(...asked: Parameters<typeof hasContent>): Promise<boolean> {
  try {
    return await hasContent(...asked)
  } catch (error) {
    if (isHoldfastError(error, 'not-allowed')) return false
    throw error
  }
}
