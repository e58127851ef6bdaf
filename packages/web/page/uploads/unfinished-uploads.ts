import { signal, type ReadonlySignal } from '@preact/signals'
import type { PageStorage } from '../browser/storage-and-timers.ts'

/** An upload in pieces that the server keeps until it is complete or expires. */
export interface UnfinishedUpload {
  readonly name: string
  readonly size: number
  /** The file's time, in milliseconds since 1970. */
  readonly lastModified: number
  /** The URL of the upload on the server. */
  readonly address: string
  /** How many bytes had been sent at the last record. */
  readonly sent: number
  readonly replaces: boolean
}

/** The unfinished uploads of one customer, recorded in this browser, so that they continue after a reload. */
export interface UnfinishedUploads {
  readonly all: ReadonlySignal<readonly UnfinishedUpload[]>
  /** The upload of exactly this file under this name, at an address that `isFree`. Default: at any. */
  find(
    file: FileIdentity,
    name: string,
    isFree?: (address: string) => boolean,
  ): UnfinishedUpload | undefined
  record(upload: UnfinishedUpload): void
  forget(address: string): void
  clear(): void
}

interface FileIdentity {
  readonly size: number
  readonly lastModified: number
}

export function openUnfinishedUploads(customer: string, storage: PageStorage): UnfinishedUploads {
  const key = `holdfast:unfinished:${customer}`
  const all = signal<readonly UnfinishedUpload[]>(read(storage, key))
  /** Whether the browser stores the list; otherwise an upload starts again after a reload. */
  let isKept = true
  const change = (edit: (uploads: readonly UnfinishedUpload[]) => readonly UnfinishedUpload[]) => {
    // Read again, since another tab may have changed it.
    const uploads = edit(isKept ? read(storage, key) : all.peek())
    all.value = uploads
    try {
      if (uploads.length === 0) storage.removeItem(key)
      else storage.setItem(key, JSON.stringify(uploads))
    } catch {
      isKept = false
    }
  }
  const without = (uploads: readonly UnfinishedUpload[], address: string) =>
    uploads.filter((each) => each.address !== address)
  return {
    all,
    find({ size, lastModified }, name, isFree = () => true) {
      const isSame = (each: UnfinishedUpload) =>
        each.name === name && each.size === size && each.lastModified === lastModified
      return all.peek().find((each) => isSame(each) && isFree(each.address))
    },
    record: (upload) => change((uploads) => [...without(uploads, upload.address), upload]),
    forget: (address) => change((uploads) => without(uploads, address)),
    clear: () => change(() => []),
  }
}

function read(storage: PageStorage, key: string): readonly UnfinishedUpload[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? (kept as UnfinishedUpload[]) : []
  } catch {
    return []
  }
}
