import type { ViewedFile } from '../api/connection.ts'
import { fileKind } from './file-kind.ts'

/** Small pictures of images, for the tiles. They stay in the memory of the page: nothing of a file is left in the browser. */
export interface Thumbnails {
  /** The address of the picture; `undefined` for files without one. Rejects with the reason of `signal`. */
  of(file: ViewedFile, signal: AbortSignal): Promise<string | undefined>
  /** Whether there may be a picture of this file. */
  isFor(file: ViewedFile): boolean
  /** Forgets all pictures. */
  clear(): void
}

/** Makes the picture of a file; `undefined` if that cannot be done. */
type MakeThumbnail = (file: ViewedFile, signal: AbortSignal) => Promise<Blob | undefined>

/** In bytes: a larger image is not read for its thumbnail. */
const largestImage = 16 * 1024 * 1024
/** How many images are read at a time, and how many pictures are kept. */
const bounds = { concurrency: 2, kept: 300 }

export function createThumbnails(make: MakeThumbnail, { concurrency, kept } = bounds): Thumbnails {
  /** In the order of their last use. */
  const made = new Map<string, string | undefined>()
  const waiting: (() => void)[] = []
  let running = 0

  /** Waits for a free slot. Those that came last go first: they are in sight. */
  async function take(signal: AbortSignal): Promise<void> {
    if (running < concurrency) {
      running += 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const start = () => resolve(undefined)
    waiting.push(start)
    signal.addEventListener('abort', () => {
      const index = waiting.indexOf(start)
      if (index >= 0) waiting.splice(index, 1)
      reject(signal.reason)
    })
    await promise
  }

  function release(): void {
    const next = waiting.pop()
    if (next) next()
    else running -= 1
  }

  function keep(key: string, url: string | undefined): void {
    made.delete(key)
    made.set(key, url)
    for (const [oldest, old] of made) {
      if (made.size <= kept) return
      made.delete(oldest)
      if (old !== undefined) URL.revokeObjectURL(old)
    }
  }

  return {
    isFor: (file) => !file.folder && fileKind(file) === 'image' && file.size <= largestImage,
    async of(file, signal) {
      const key = `${file.name}\n${file.etag}`
      if (!made.has(key)) {
        await take(signal)
        try {
          signal.throwIfAborted()
          const picture = made.has(key) ? undefined : await make(file, signal)
          if (!made.has(key)) made.set(key, picture && URL.createObjectURL(picture))
        } finally {
          release()
        }
      }
      const url = made.get(key)
      keep(key, url)
      return url
    },
    clear() {
      for (const url of made.values()) if (url !== undefined) URL.revokeObjectURL(url)
      made.clear()
    },
  }
}
