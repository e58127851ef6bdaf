import { computed, signal, type ReadonlySignal } from '@preact/signals'
import type { Usage } from '@holdfast/client/browser'
import {
  isRefusedLogin,
  checkCredentials,
  hasRoute,
  type Connection,
  type CustomerCredentials,
  type CustomerAccess,
} from '../api/connection.ts'
import { createFileList, type FileList } from '../list/file-list-state.ts'
import { createDeletions, type Deletions } from '../list/deletions.ts'
import { createDeletedList, type DeletedList } from '../history/deleted-list.ts'
import { createRestores, type Restores } from '../history/restores.ts'
import { createConnection } from '../api/create-connection.ts'
import { createUploads, type Uploads } from '../uploads/create-uploads.ts'
import { watchList } from '../list/watch-list.ts'
import { afterTime, openStorage } from '../browser/storage-and-timers.ts'
import { shortName } from '../i18n/format.ts'
import { plural, t } from '../i18n/language.ts'
import { notices, notify } from '../parts/notices.ts'

/** The state of a customer who has signed in. */
export interface Session extends CustomerAccess {
  readonly files: FileList
  readonly uploads: Uploads
  readonly deletions: Deletions
  readonly deleted: DeletedList
  readonly restores: Restores
  /** Whether what the login replaces and deletes is kept, and it may list that. */
  readonly isKept: ReadonlySignal<boolean>
  /** Whether the server ends links. */
  readonly canEndLinks: boolean
  /** Whether the server renames files. */
  readonly canRename: boolean
  /** Whether the login may do all of this, as far as that is known. */
  may(...rights: readonly Right[]): boolean
}

type Right = NonNullable<Usage['may']>[number]

/** `undefined` until someone has signed in. */
export const session = signal<Session | undefined>(undefined)

const storageKey = 'holdfast:session'
const storage = openStorage(() => sessionStorage)

/**
 * Signs in. The password stays in memory, and in the session storage of this tab if `isKept`.
 *
 * @throws HoldfastError
 */
export async function signIn(credentials: CustomerCredentials, isKept: boolean): Promise<void> {
  const connection = createConnection(credentials)
  await checkCredentials(connection)
  if (isKept) storage.setItem(storageKey, JSON.stringify(credentials))
  else storage.removeItem(storageKey)
  await open(connection)
}

/** Signs in with the credentials kept in this tab, if they are still right. */
export async function signInAgain(): Promise<void> {
  const kept = storage.getItem(storageKey)
  if (kept === null) return
  const connection = createConnection(JSON.parse(kept) as CustomerCredentials)
  try {
    await checkCredentials(connection)
  } catch (error) {
    if (isRefusedLogin(error)) storage.removeItem(storageKey)
    return
  }
  await open(connection)
}

/** Continues with a new password after the server has refused the old one. */
export async function renewPassword(connection: Connection, password: string): Promise<void> {
  const { customer } = connection
  await checkCredentials(createConnection({ customer, password }))
  if (storage.getItem(storageKey) !== null) {
    storage.setItem(storageKey, JSON.stringify({ customer, password }))
  }
  connection.renew(password)
}

export function signOut(): void {
  storage.removeItem(storageKey)
  endSession()
  session.value?.uploads.end()
  void session.value?.deletions.end()
  session.value?.restores.end()
  session.value?.deleted.close()
  session.value?.files.end()
  session.value = undefined
  // Notices name files, which the next user must not see.
  notices.value = []
}

async function open(connection: Connection): Promise<void> {
  const files = createFileList(connection)
  const refresh = () => files.refreshUsage()
  const [hasLinks, canEndLinks, canRename] = await Promise.all([
    hasRoute(connection, 'link/a'),
    hasRoute(connection, 'links'),
    hasRoute(connection, 'rename/a'),
  ])
  const granted = computed<Usage['may']>(() =>
    // The server does not say what else a login may do that may not list.
    files.status.value === 'hidden' ? ['create'] : files.usage.value?.may,
  )
  const may: Session['may'] = (...rights) => {
    const all = granted.value
    return all === undefined || rights.every((right) => all.includes(right))
  }
  const isKept = computed(() => files.usage.value?.kept !== undefined && may('list'))
  const isRestorable = () => isKept.value && may('read', 'create')
  const deletions = createDeletions(connection, {
    files,
    onIdle: refresh,
    isRestorable,
    page: window,
  })
  const deleted = createDeletedList(connection)
  const ending = new AbortController()
  const { add: onStored } = files
  const { finishDeletion, cancelDeletion } = deletions
  session.value = {
    connection,
    files,
    uploads: createUploads(connection, {
      onStored,
      onIdle: refresh,
      finishDeletion,
      cancelDeletion,
      isListed: files.has,
    }),
    deletions,
    deleted,
    restores: createRestores(connection, { files, deleted, deletions, page: window }),
    isKept,
    ended: ending.signal,
    hasLinks,
    canEndLinks,
    canRename,
    may,
  }
  void files.load()
  const endWatching = watchList(files, {
    page: document,
    network: window,
    onArrived(names) {
      // What this page uploads may be listed before it is recorded.
      const own = new Set(
        session
          .peek()
          ?.uploads.items.peek()
          .map(({ name }) => name.peek()),
      )
      reportArrived(names.filter((name) => !own.has(name)))
    },
  })
  endSession = () => {
    endWatching()
    ending.abort()
  }
}

let endSession = () => {}

/** How long new files are reported, in milliseconds. */
const arrivedMs = 8000

function reportArrived(names: readonly string[]): void {
  const [name] = names
  if (name === undefined) return
  const text =
    names.length === 1
      ? t('arrivedOne', { name: shortName(name) })
      : plural('arrivedMany', names.length)
  afterTime(arrivedMs, notify({ text, isError: false }))
}
