import { isHoldfastError } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { afterTime, type AfterTime } from '../app/after-time.ts'
import { explainError } from '../app/explain-error.ts'
import { notify, notifyError } from '../app/notices.ts'
import { plural, t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'

const undoMs = 5000

/** Deletes files, after the time in which that can be undone. */
export interface Deletions {
  delete(names: readonly string[]): void
  /** Takes the last deletion back, if there is one that still can be. */
  undo(): void
  /** Deletes `name` now if its deletion is still to come; resolves when none of it is under way. */
  readonly settle: (name: string) => Promise<void>
  /** Gives up what is still to be sent for `name`: it is a new file's now. */
  readonly spare: (name: string) => void
  /** Deletes at once what still could be undone, and reports nothing any more; resolves when that is done. */
  end(): Promise<void>
}

interface Context {
  readonly files: Pick<FileList, 'hide' | 'show' | 'remove'>
  readonly onIdle: () => void
  readonly after?: AfterTime
  /** What has the event that the page is about to go. */
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
}

type Failure = readonly [name: string, error: unknown]

/** A notice whose deletions can be undone. */
interface Undoable {
  readonly names: Set<string>
  readonly forget: () => void
  readonly undo: () => void
}

export function createDeletions({ client }: Connection, context: Context): Deletions {
  const { files, onIdle, after = afterTime, page } = context
  const undoable = new Set<Undoable>()
  /** Can no longer be undone, but the server does not know yet. */
  const unsent = new Set<string>()
  const underWay = new Map<string, Promise<unknown>>()
  let isEnded = false

  /** Resolves with the error, if there is one: what could not be deleted comes back into the list. */
  async function send(name: string, keepalive: boolean): Promise<unknown> {
    unsent.delete(name)
    const sending = client.delete(name, { keepalive }).then(
      () => {
        files.remove(name)
      },
      (error: unknown) => {
        const isGone = isHoldfastError(error, 'not-found')
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
    const failed: Failure[] = []
    for (const name of names) {
      if (!unsent.has(name)) continue
      const error = await send(name, false)
      if (error !== undefined) failed.push([name, error])
    }
    finish(failed)
  }

  function finish(failed: readonly Failure[]): void {
    // It names files, which whoever comes next is not to see.
    if (!isEnded) report(failed)
    onIdle()
  }

  function seal({ names, forget }: Undoable): void {
    forget()
    for (const name of names) unsent.add(name)
  }

  function commit(each: Undoable): Promise<void> {
    seal(each)
    return sendAll(each.names)
  }

  /** Takes `name` out of what can still be undone, if it is there. */
  function withdraw(name: string): boolean {
    const found = [...undoable].find(({ names }) => names.delete(name))
    if (found?.names.size === 0) found.forget()
    return found !== undefined
  }

  const commitAll = () => Promise.all([...undoable].map(commit))
  /** All at once, since what waits for its turn would be lost with the page. */
  async function sendNow(): Promise<void> {
    for (const each of [...undoable]) seal(each)
    if (unsent.size === 0) return
    const sent = [...unsent].map(async (name): Promise<Failure> => [name, await send(name, true)])
    finish((await Promise.all(sent)).filter(([, error]) => error !== undefined))
  }
  const leave = () => void sendNow()
  page.addEventListener('pagehide', leave)

  return {
    async end() {
      isEnded = true
      await commitAll()
      page.removeEventListener('pagehide', leave)
    },
    delete(deleted) {
      const names = new Set(deleted)
      files.hide(deleted)
      const dismiss = notify({
        text: textOf(deleted),
        isError: false,
        action: { label: t('undo'), run: () => each.undo() },
      })
      const stop = after(undoMs, () => void commit(each))
      const each: Undoable = {
        names,
        forget() {
          stop()
          undoable.delete(each)
          dismiss()
        },
        undo() {
          each.forget()
          files.show([...names])
        },
      }
      undoable.add(each)
    },
    undo() {
      ;[...undoable].at(-1)?.undo()
    },
    async settle(name) {
      if (withdraw(name)) unsent.add(name)
      if (unsent.has(name)) await sendAll([name])
      else await underWay.get(name)
    },
    spare(name) {
      withdraw(name)
      unsent.delete(name)
    },
  }
}

function textOf(names: readonly string[]): string {
  const [name = ''] = names
  return names.length === 1 ? t('deletedOne', { name }) : plural('deletedMany', names.length)
}

function report(failed: readonly Failure[]): void {
  const [first] = failed
  if (!first) return
  const [name, error] = first
  const text =
    failed.length === 1 ? t('deleteFailed', { name }) : plural('deleteFailedMany', failed.length)
  notifyError(`${text} ${explainError(error)}`)
}
