import type { FileDetails } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { openStorage } from '../app/open-storage.ts'
import { createRateMeter } from './rate-meter.ts'
import { openUnfinishedUploads } from './unfinished-uploads.ts'
import type { UploadItem } from './upload-item.ts'
import { createUploadTransport } from './upload-transport.ts'
import { runUploads, type Uploads } from './run-uploads.ts'

interface Context {
  readonly onStored: (file: FileDetails) => void
  readonly onIdle: () => void
  /** What must have ended before a file gets the name. */
  readonly settle: (name: string) => Promise<void>
  /** What was to become of the file that had the name does not concern the new one. */
  readonly spare: (name: string) => void
}

/** The uploads of a customer. */
export function createUploads(connection: Connection, context: Context): Uploads {
  const { onStored, onIdle, settle, spare } = context
  const storage = openStorage(() => localStorage)
  const unfinished = openUnfinishedUploads(connection.customer, storage)
  const rate = createRateMeter()
  return runUploads({
    transport: createUploadTransport(connection, { unfinished, rate, settle }),
    unfinished,
    rate,
    onStored(item) {
      spare(item.name.peek())
      void entryOf(connection, item).then(onStored)
    },
    onIdle,
  })
}

/** What the list shows of a file that has been stored: what the server says, or else what is known here. */
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
