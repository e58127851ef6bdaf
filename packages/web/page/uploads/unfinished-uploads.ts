import { signal, type ReadonlySignal } from '@preact/signals'
import { createTabLocks, type PageStorage } from '../browser/storage-and-timers.ts'

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
  /** Those that no other tab sends, as far as this tab knows. */
  readonly all: ReadonlySignal<readonly UnfinishedUpload[]>
  /** Reserves an upload for this tab; resolves with `false` if another tab sends it. */
  claim(address: string): Promise<boolean>
  /** Leaves a claimed upload to other tabs. */
  release(address: string): void
  /** The upload of exactly this file under this name, at an address that `isFree`. Default: at any. */
  find(
    file: FileIdentity,
    name: string,
    isFree?: (address: string) => boolean,
  ): UnfinishedUpload | undefined
  /** Records an upload that this tab sends. */
  record(upload: UnfinishedUpload): void
  /** Removes an upload that is complete or given up. */
  forget(address: string): void
  /** Removes all that no other tab sends. */
  clear(): Promise<void>
}

interface FileIdentity {
  readonly size: number
  readonly lastModified: number
}

const lockOf = (address: string) => `holdfast:upload:${address}`

export function openUnfinishedUploads(
  customer: string,
  storage: PageStorage,
  locks = createTabLocks(),
): UnfinishedUploads {
  const key = `holdfast:unfinished:${customer}`
  const all = signal<readonly UnfinishedUpload[]>(read(storage, key))
  /** Whether the browser stores the list; otherwise an upload starts again after a reload. */
  let isKept = true
  let sentElsewhere: ReadonlySet<string> = new Set()
  const isSentElsewhere = ({ address }: UnfinishedUpload) => sentElsewhere.has(lockOf(address))
  const show = (uploads: readonly UnfinishedUpload[]) => {
    all.value = uploads.filter((upload) => !isSentElsewhere(upload))
  }
  /** The locks of other tabs that this one waits for. */
  const awaited = new Set<string>()
  const refresh = async () => {
    sentElsewhere = await locks.heldElsewhere()
    const uploads = isKept ? read(storage, key) : all.peek()
    show(uploads)
    for (const lock of uploads.filter(isSentElsewhere).map(({ address }) => lockOf(address))) {
      if (awaited.has(lock)) continue
      awaited.add(lock)
      void locks.whenFree(lock).then(
        () => {
          awaited.delete(lock)
          return refresh()
        },
        () => {},
      )
    }
  }
  const change = (edit: (uploads: readonly UnfinishedUpload[]) => readonly UnfinishedUpload[]) => {
    // Read again, since another tab may have changed it.
    const uploads = edit(isKept ? read(storage, key) : all.peek())
    show(uploads)
    void refresh()
    try {
      if (uploads.length === 0) storage.removeItem(key)
      else storage.setItem(key, JSON.stringify(uploads))
    } catch {
      isKept = false
    }
  }
  const without = (uploads: readonly UnfinishedUpload[], address: string) =>
    uploads.filter((each) => each.address !== address)
  void refresh()
  return {
    all,
    async claim(address) {
      const isClaimed = await locks.take(lockOf(address))
      if (!isClaimed) await refresh()
      return isClaimed
    },
    release: (address) => locks.release(lockOf(address)),
    find({ size, lastModified }, name, isFree = () => true) {
      const isSame = (each: UnfinishedUpload) =>
        each.name === name && each.size === size && each.lastModified === lastModified
      return all.peek().find((each) => isSame(each) && isFree(each.address))
    },
    record(upload) {
      // Before other tabs can find it.
      void locks.take(lockOf(upload.address))
      change((uploads) => [...without(uploads, upload.address), upload])
    },
    forget(address) {
      change((uploads) => without(uploads, address))
      locks.release(lockOf(address))
    },
    async clear() {
      // Another tab may have begun one since.
      sentElsewhere = await locks.heldElsewhere()
      change((uploads) => uploads.filter(isSentElsewhere))
    },
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
