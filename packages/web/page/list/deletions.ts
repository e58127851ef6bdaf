import { signal } from '@preact/signals'
import { isHoldfastError, type Client } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { afterTime, type AfterTime } from '../browser/storage-and-timers.ts'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'
import { formatCount, shortName } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'

const undoMs = 5000
/** The most that one request deletes. While a name waits for a later request, a new file can still cancel its deletion. */
const requestLimits = { names: 250, bytes: 30_000 }
/** When the page closes, browsers finish running requests only if their bodies together are smaller than 64 KiB. */
const mostAfterPage = 60_000

/** Deletes files after a time in which the user can undo that. */
export interface Deletions {
  delete(names: readonly string[]): void
  /** Cancels the last deletion that can still be undone, if there is one. */
  undo(): void
  /** If `name` is waiting to be deleted, deletes it now; resolves when its deletion is not running any more. */
  readonly finishDeletion: (name: string) => Promise<void>
  /** Cancels the deletion of `name` that is still to be sent: a new file has that name. */
  readonly cancelDeletion: (name: string) => void
  /** Deletes at once what could still be undone, and reports nothing any more; resolves when that is done. */
  end(): Promise<void>
}

interface Context {
  readonly files: Pick<FileList, 'hide' | 'show' | 'remove'>
  readonly onIdle: () => void
  /** Whether what is deleted can be restored for a time. */
  readonly isRestorable?: () => boolean
  readonly after?: AfterTime
  /** Emits the events before the page closes. */
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
}

/** A notice whose deletions can be undone. */
interface UndoableDeletion {
  readonly names: Set<string>
  readonly forget: () => void
  readonly undo: () => void
}

export function createDeletions({ client }: Connection, context: Context): Deletions {
  const { files, onIdle, isRestorable = () => false, after = afterTime, page } = context
  const undoable = new Set<UndoableDeletion>()
  /** Names whose deletion cannot be undone any more, but has not been sent yet. */
  const unsent = new Set<string>()
  const requests = createSendDeletions(client, files)
  const sending = new Set<Promise<void>>()
  let queue = Promise.resolve()
  let isEnded = false

  /** Sends one request after the other; skips names that another call has sent meanwhile. */
  async function sendAll(names: readonly string[]): Promise<void> {
    const failed: FailedDeletion[] = []
    const progress = showProgress(names.length)
    let left = names.filter((name) => unsent.has(name))
    while (left.length > 0) {
      const next = fitting(left.slice(0, requestLimits.names), requestLimits.bytes)
      for (const name of next) unsent.delete(name)
      const sent = await requests.send(next, progress.advance)
      left = left.slice(next.length).filter((name) => unsent.has(name))
      failed.push(...sent.failed)
      if (sent.isBroken) failed.push(...giveUp(left.splice(0), sent.failed.at(-1)?.[1]))
      progress.leave(left.length)
    }
    progress.end()
    finish(failed)
  }

  /** Shows the names that will not be sent in the list again. */
  function giveUp(names: readonly string[], error: unknown): readonly FailedDeletion[] {
    const kept = names.filter((name) => unsent.delete(name))
    files.show(kept)
    return kept.map((name) => [name, error])
  }

  function finish(failed: readonly FailedDeletion[]): void {
    // The report names files, which the next user must not see.
    if (!isEnded) report(failed)
    onIdle()
  }

  function makeFinal({ names, forget }: UndoableDeletion): void {
    forget()
    for (const name of names) unsent.add(name)
  }

  function track(sent: Promise<void>): void {
    const tracked = sent.finally(() => sending.delete(tracked))
    sending.add(tracked)
  }

  function commit(each: UndoableDeletion): void {
    makeFinal(each)
    // Only one request with a body at a time: browsers limit what they finish after the page has closed.
    if (each.names.size === 1) track(sendAll([...each.names]))
    else track((queue = queue.then(() => sendAll([...each.names]))))
  }

  /** Removes `name` from the deletions that can be undone; returns whether it was there. */
  function withdraw(name: string): boolean {
    const found = [...undoable].find(({ names }) => names.delete(name))
    if (found?.names.size === 0) found.forget()
    return found !== undefined
  }

  /** Sends waiting names now: they would be lost with the page. */
  async function sendNow(): Promise<void> {
    for (const each of [...undoable]) makeFinal(each)
    const names = fitting([...unsent], mostAfterPage - bytesOf(requests.underWay()))
    if (names.length === 0) return
    for (const name of names) unsent.delete(name)
    const { failed } = await requests.send(names)
    finish(failed)
    // If the page stays or returns, sends the rest.
    if (unsent.size > 0) await sendAll([...unsent])
  }
  const leave = () => void sendNow()
  const warn = (event: Event) => {
    const isBusy = undoable.size + unsent.size + requests.underWay().length > 0
    if (isBusy) event.preventDefault()
  }
  page.addEventListener('pagehide', leave)
  page.addEventListener('beforeunload', warn)

  return {
    async end() {
      isEnded = true
      for (const each of [...undoable]) commit(each)
      await Promise.all(sending)
      page.removeEventListener('pagehide', leave)
      page.removeEventListener('beforeunload', warn)
    },
    delete(deleted) {
      const names = new Set(deleted)
      files.hide(deleted)
      const dismiss = notify({
        text: isRestorable() ? `${textOf(deleted)} ${t('restorable')}` : textOf(deleted),
        isError: false,
        action: { label: t('undo'), run: () => each.undo() },
      })
      const stop = after(undoMs, () => commit(each))
      const each: UndoableDeletion = {
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
    async finishDeletion(name) {
      if (withdraw(name)) unsent.add(name)
      if (unsent.has(name)) await sendAll([name])
      else await requests.ended(name)
    },
    cancelDeletion(name) {
      withdraw(name)
      unsent.delete(name)
    },
  }
}

function textOf(names: readonly string[]): string {
  const [name = ''] = names
  return names.length === 1
    ? t('deletingOne', { name: shortName(name) })
    : plural('deletingMany', names.length)
}

/** Shows how many of `all` files are deleted, unless it is only one. */
function showProgress(all: number) {
  const done = signal(0)
  const count = (number: number) => formatCount(number, language.value)
  const text = () => t('deletingProgress', { done: count(done.value), all: count(all) })
  const end = all > 1 ? notify({ text, isError: false }) : () => {}
  return {
    advance: () => void done.value++,
    leave: (left: number) => void (done.value = all - left),
    end,
  }
}

/** The first of `names` that fit into a body of so many bytes. */
function fitting(names: readonly string[], bytes: number): readonly string[] {
  let room = bytes
  return names.filter((name) => (room -= bytesOf([name])) >= 0)
}

function bytesOf(names: readonly string[]): number {
  return new TextEncoder().encode(JSON.stringify(names)).length
}

function report(failed: readonly FailedDeletion[]): void {
  const [first] = failed
  if (!first) return
  const [name, error] = first
  const text =
    failed.length === 1
      ? t('deleteFailed', { name: shortName(name) })
      : plural('deleteFailedMany', failed.length)
  notifyError(`${text} ${explainError(error)}`)
}

/** A file that could not be deleted. */
type FailedDeletion = readonly [name: string, error: unknown]

/** The outcome of one request. */
interface SentDeletions {
  readonly failed: readonly FailedDeletion[]
  /** Whether the request as a whole failed, so that another one is pointless. */
  readonly isBroken: boolean
}

/** Sends deletions, and updates the list by their results: files that could not be deleted appear again. */
interface SendDeletions {
  /**
   * Deletes the files in one request, which the browser finishes even if the page closes. Never rejects. Calls `onDone` for each file that
   * is gone, or appears again.
   */
  send(names: readonly string[], onDone?: () => void): Promise<SentDeletions>
  /** The names that are being deleted. */
  underWay(): readonly string[]
  /** Resolves when `name` is not being deleted any more. */
  ended(name: string): Promise<unknown>
}

function createSendDeletions(
  client: Client,
  files: Pick<FileList, 'show' | 'remove'>,
): SendDeletions {
  const underWay = new Map<string, Promise<unknown>>()

  return {
    async send(names, onDone) {
      const failed: FailedDeletion[] = []
      const waiting = new Map(names.map((name) => [name, Promise.withResolvers<undefined>()]))
      for (const [name, { promise }] of waiting) underWay.set(name, promise)
      const end = (name: string, error: unknown) => {
        const ending = waiting.get(name)
        waiting.delete(name)
        if (underWay.get(name) === ending?.promise) underWay.delete(name)
        ending?.resolve(undefined)
        if (error === undefined || isHoldfastError(error, 'not-found')) files.remove(name)
        else {
          files.show([name])
          failed.push([name, error])
        }
        onDone?.()
      }
      try {
        for await (const { name, error } of resultsOf(client, names)) end(name, error)
        return { failed, isBroken: false }
      } catch (error) {
        for (const name of waiting.keys()) end(name, error)
        return { failed, isBroken: true }
      }
    },
    underWay: () => [...underWay.keys()],
    ended: async (name) => underWay.get(name),
  }
}

/** Uses `keepalive` from the start: some browsers abort other requests before they announce that the page closes. */
async function* resultsOf(client: Client, names: readonly string[]) {
  const [name = '', ...others] = names
  if (others.length > 0) return yield* client.deleteMany(names, { keepalive: true })
  await client.delete(name, { keepalive: true })
  yield { name, error: undefined }
}
