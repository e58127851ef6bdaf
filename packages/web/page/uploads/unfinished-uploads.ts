import { signal, type ReadonlySignal } from '@preact/signals'
import type { PageStorage } from '../browser/storage.ts'

/** An upload in pieces that the server keeps until it is finished. */
export interface UnfinishedUpload {
  readonly name: string
  readonly size: number
  /** Of the file, in milliseconds since 1970. */
  readonly lastModified: number
  /** Where the server keeps it. */
  readonly address: string
  /** How many bytes had been sent when it was last noted. */
  readonly sent: number
  readonly replaces: boolean
}

/** The uploads of one customer that have begun, kept in this browser, so that they go on after a reload. */
export interface UnfinishedUploads {
  readonly all: ReadonlySignal<readonly UnfinishedUpload[]>
  /** The one of this very file under this name. */
  find(file: FileIdentity, name: string): UnfinishedUpload | undefined
  note(upload: UnfinishedUpload): void
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
  /** Whether the browser keeps it; otherwise an upload begins anew after a reload. */
  let isKept = true
  const change = (edit: (uploads: readonly UnfinishedUpload[]) => readonly UnfinishedUpload[]) => {
    // Read anew, since another tab may have changed it.
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
    find: ({ size, lastModified }, name) =>
      all
        .peek()
        .find(
          (each) => each.name === name && each.size === size && each.lastModified === lastModified,
        ),
    note: (upload) => change((uploads) => [...without(uploads, upload.address), upload]),
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
