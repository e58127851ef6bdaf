import { ApiError } from '../api/api-error.ts'
import type { Connection } from '../api/connection.ts'
import { deleteFile } from '../api/files.ts'
import { afterTime, type AfterTime } from '../app/after-time.ts'
import { explainError } from '../app/explain-error.ts'
import { notify, notifyError } from '../app/notices.ts'
import { plural, t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'

const undoMs = 5000

/** Deletes files, after the time in which that can be undone. */
export interface Deletions {
  delete(names: readonly string[]): void
  /** Deletes `name` now if its deletion is still to come; resolves when none of it is under way. */
  readonly settle: (name: string) => Promise<void>
  /** Deletes at once what still could be undone; resolves when that is done. */
  end(): Promise<void>
}

interface Context {
  readonly files: Pick<FileList, 'hide' | 'show' | 'remove'>
  readonly onIdle: () => void
  readonly after?: AfterTime
  /** What has the event that the page is about to go. */
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
}

/** A notice whose deletions can be undone. */
interface Undoable {
  readonly names: Set<string>
  readonly forget: () => void
}

export function createDeletions(connection: Connection, context: Context): Deletions {
  const { files, onIdle, after = afterTime, page } = context
  const undoable = new Set<Undoable>()
  /** Can no longer be undone, but the server does not know yet. */
  const unsent = new Set<string>()
  const underWay = new Map<string, Promise<unknown>>()

  /** Resolves with the error, if there is one: what could not be deleted comes back into the list. */
  async function send(name: string, keepalive: boolean): Promise<unknown> {
    unsent.delete(name)
    const sending = deleteFile(connection, name, { keepalive }).then(
      () => {
        files.remove(name)
      },
      (error: unknown) => {
        const isGone = error instanceof ApiError && error.message === 'File not found'
        if (!isGone) {
          files.show([name])
          return error
        }
        files.remove(name)
      },
    )
    underWay.set(name, sending)
    const error: unknown = await sending
    underWay.delete(name)
    return error
  }

  /** One after the other; those that something else has sent meanwhile are done. */
  async function sendAll(names: Iterable<string>): Promise<void> {
    const failed: (readonly [name: string, error: unknown])[] = []
    for (const name of names) {
      if (!unsent.has(name)) continue
      const error = await send(name, false)
      if (error !== undefined) failed.push([name, error])
    }
    report(failed)
    onIdle()
  }

  function commit({ names, forget }: Undoable): Promise<void> {
    forget()
    for (const name of names) unsent.add(name)
    return sendAll(names)
  }

  const commitAll = () => Promise.all([...undoable].map(commit))
  // What waits for its turn would be lost with the page.
  const leave = () => {
    void commitAll()
    for (const name of [...unsent]) void send(name, true)
  }
  page.addEventListener('pagehide', leave)

  return {
    async end() {
      await commitAll()
      page.removeEventListener('pagehide', leave)
    },
    delete(deleted) {
      const names = new Set(deleted)
      files.hide(deleted)
      const undo = () => {
        each.forget()
        files.show([...names])
      }
      const dismiss = notify({
        text: textOf(deleted),
        isError: false,
        action: { label: t('undo'), run: undo },
      })
      const stop = after(undoMs, () => void commit(each))
      const each: Undoable = {
        names,
        forget() {
          stop()
          undoable.delete(each)
          dismiss()
        },
      }
      undoable.add(each)
    },
    async settle(name) {
      const found = [...undoable].find(({ names }) => names.delete(name))
      if (found?.names.size === 0) found.forget()
      if (found) unsent.add(name)
      if (unsent.has(name)) await sendAll([name])
      else await underWay.get(name)
    },
  }
}

function textOf(names: readonly string[]): string {
  const [name = ''] = names
  return names.length === 1 ? t('deletedOne', { name }) : plural('deletedMany', names.length)
}

function report(failed: readonly (readonly [name: string, error: unknown])[]): void {
  const [first] = failed
  if (!first) return
  const [name, error] = first
  const text =
    failed.length === 1 ? t('deleteFailed', { name }) : plural('deleteFailedMany', failed.length)
  notifyError(`${text} ${explainError(error)}`)
}
