import { signal, type ReadonlySignal } from '@preact/signals'

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
interface Storage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export function openUnfinishedUploads(customer: string, storage: Storage): UnfinishedUploads {
  const key = `holdfast:unfinished:${customer}`
  const all = signal<readonly UnfinishedUpload[]>(read(storage, key))
  const change = (uploads: readonly UnfinishedUpload[]) => {
    all.value = uploads
    try {
      if (uploads.length === 0) storage.removeItem(key)
      else storage.setItem(key, JSON.stringify(uploads))
    } catch {
      // A browser that keeps nothing begins anew after a reload.
    }
  }
  const others = (address: string) => all.peek().filter((each) => each.address !== address)
  return {
    all,
    find: ({ size, lastModified }, name) =>
      all
        .peek()
        .find(
          (each) => each.name === name && each.size === size && each.lastModified === lastModified,
        ),
    note: (upload) => change([...others(upload.address), upload]),
    forget: (address) => change(others(address)),
    clear: () => change([]),
  }
}

function read(storage: Storage, key: string): readonly UnfinishedUpload[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? (kept as UnfinishedUpload[]) : []
  } catch {
    return []
  }
}
