import type { Client, FileToUpload } from '@holdfast/client/browser'

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
    let results = 0
    try {
      const files = sent.map(({ file }) => file)
      for await (const { error } of client.uploadMany(files, {
        createOnly: true,
        signal: ended.signal,
      })) {
        const each = sent[results++]
        if (each) wanted.delete(each)
        if (error) each?.reject(error)
        else each?.resolve()
      }
    } catch (error) {
      for (const { reject } of sent.slice(results)) reject(error)
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
