import { lastFailedSync, pooledCalls, type FileCalls, isSystemError } from './file-calls.ts'

/** Changes to one directory that one sync makes durable. */
interface Group {
  /** Makes a change; settles when it is synced and the directory is closed. */
  make<T>(change: () => Promise<T>): Promise<T>
  /** Whether more changes may join: its sync has not started yet. */
  takesMore(): boolean
  /** Resolves when the group's work has ended, in whatever way. */
  readonly ended: Promise<void>
}

/** The last group of each directory that is being changed. */
const groups = new Map<string, Group>()

/** Counts the groups in which a change has failed. */
let failures = 0

/**
 * Makes a `change` to the entries of `directory`, such as a new name, and resolves when it survives a power cut. It opens the directory
 * first: if that fails, nothing has changed.
 *
 * Changes that are made while the directory is being synced share the next sync, which begins when all of them have been made. If it
 * fails, all of them fail.
 *
 * A change also fails if any other sync of this process has failed since the change began. The file system writes changes of several
 * directories at once. If that fails, it reports the failure once, to the sync that waits at that moment, and drops the changes. The next
 * sync has nothing to write, and succeeds (seen on ext4 and XFS).
 */
export async function changeDurably<T>(
  directory: string,
  change: () => Promise<T>,
  calls: FileCalls = pooledCalls,
): Promise<T> {
  // Windows opens no directories; NTFS keeps the order of its metadata in a journal.
  if (process.platform === 'win32') return change()
  const last = groups.get(directory)
  return (last?.takesMore() ? last : beginGroup(directory, last, calls)).make(change)
}

function beginGroup(directory: string, before: Group | undefined, calls: FileCalls): Group {
  const failuresBefore = failures
  const failedSyncBefore = lastFailedSync()
  const opening = calls.open(directory, 'r')
  const changes: Promise<unknown>[] = []
  let isSyncing = false

  const commit = async () => {
    let opened = await opening
    try {
      await before?.ended
      isSyncing = true
      const outcomes = await Promise.allSettled(changes)
      const made = outcomes.filter(({ status }) => status === 'fulfilled')
      if (made.length < outcomes.length) failures++
      if (made.length === 0) return
      if (failures !== failuresBefore) {
        // A failed change may have found the directory removed by hand and made it again, before other changes. Syncing the removed
        // directory would make nothing durable.
        const gone = opened
        opened = await calls.open(directory, 'r')
        await calls.close(gone)
      }
      await syncIfNeeded(opened, calls)
      const failedSync = lastFailedSync()
      if (failedSync && failedSync !== failedSyncBefore) throw failedSync.error
    } finally {
      await calls.close(opened)
    }
  }

  const committed = commit()
  const ended = committed
    .catch(() => {})
    .then(() => {
      if (groups.get(directory) === group) groups.delete(directory)
    })
  const group: Group = {
    async make(change) {
      const changing = opening.then(change)
      changes.push(changing)
      const [made, sync] = await Promise.allSettled([changing, committed])
      if (made.status === 'rejected') throw made.reason
      if (sync.status === 'rejected') throw sync.reason
      return made.value
    },
    takesMore: () => !isSyncing,
    ended,
  }
  groups.set(directory, group)
  return group
}

async function syncIfNeeded(directory: number, calls: FileCalls): Promise<void> {
  try {
    await calls.sync(directory)
  } catch (error) {
    // Network file systems that write names through at once (SMB) have nothing to sync and report EINVAL.
    if (!isSystemError(error, 'EINVAL')) throw error
  }
}
