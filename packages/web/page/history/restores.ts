import { signal, type ReadonlySignal } from '@preact/signals'
import {
  concernsAllFiles,
  isHoldfastError,
  type Client,
  type FileVersion,
} from '@holdfast/client/browser'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { afterTime, type AfterTime } from '../browser/storage-and-timers.ts'
import { formatCount, shortName, formatSecond } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import type { Deletions } from '../list/deletions.ts'
import type { FileList } from '../list/file-list-state.ts'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'
import { nextName, type Decision } from '../uploads/upload-queue.ts'
import type { DeletedList } from './deleted-list.ts'

/** The most requests at a time. */
const concurrency = 4
/** How long a result is shown, in milliseconds. */
const shownMs = 6000

/** Restores deleted files, several at a time, and asks about names that are taken. */
export interface Restores {
  readonly restore: (files: readonly ViewedFile[]) => void
  /** The files whose names are taken, and for which there is no decision yet: at most one of each request. */
  readonly conflicts: ReadonlySignal<readonly RestoreConflict[]>
  /** Several files that could not be restored; empty if there are none. */
  readonly failed: ReadonlySignal<readonly FailedRestore[]>
  readonly dismissFailed: () => void
  /** Sends no further request, and reports nothing any more. */
  end(): void
}

/** A file that waits for a decision, since its name is taken. */
export interface RestoreConflict {
  readonly name: string
  /** How many other files of the same call have no result yet. */
  readonly others: number
  /** Decides; with `isForAll` also about all other files of the same call. */
  readonly decide: (decision: Decision, isForAll: boolean) => void
}

export interface FailedRestore {
  readonly file: ViewedFile
  readonly error: unknown
}

interface Context {
  readonly files: Pick<FileList, 'add' | 'load' | 'refreshUsage'>
  readonly deleted: Pick<DeletedList, 'remove'>
  readonly deletions: Pick<Deletions, 'finishDeletion' | 'cancelDeletion'>
  readonly after?: AfterTime
  /** Emits the event before the page closes. */
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
}

export function createRestores({ client }: Connection, context: Context): Restores {
  const { files, deleted, deletions, after = afterTime, page } = context
  const conflicts = signal<readonly RestoreConflict[]>([])
  const failed = signal<readonly FailedRestore[]>([])
  const ended = new AbortController()
  const hasEnded = () => ended.signal.aborted
  let running = 0

  async function restoreAll(chosen: readonly ViewedFile[]): Promise<void> {
    const call = createCall(chosen, conflicts, ended.signal)
    const next = chosen.values()
    const lane = async () => {
      for (const file of next) {
        if (call.isStopped()) return
        await restoreOne(file, call)
      }
    }
    const lanes = Array.from({ length: Math.min(concurrency, chosen.length) }, lane)
    await Promise.all(lanes)
    call.end()
    if (hasEnded()) return
    await show(call.restored())
    if (!hasEnded()) report(call)
  }

  /** Restores one file, under the name that the user decides. Never rejects. */
  async function restoreOne(file: ViewedFile, call: RestoreCall): Promise<void> {
    const { name, version } = file
    let as = name
    let mayReplace = false
    while (!call.isStopped()) {
      try {
        // A deletion of that name which can still be undone would later delete the restored file.
        await deletions.finishDeletion(as)
        await client.restore(name, { version, as, createOnly: !mayReplace, signal: ended.signal })
        deletions.cancelDeletion(as)
        deleted.remove(name)
        return call.succeed(file, as)
      } catch (error) {
        const isTaken = isHoldfastError(error, 'already-exists') && !mayReplace
        if (!isTaken) {
          if (isHoldfastError(error, 'version-not-found')) deleted.remove(name)
          return call.fail({ file, error })
        }
        // The name that the user has chosen by "Keep both" is taken, too.
        const decision = as === name ? await call.ask(name) : 'keep-both'
        if (call.isStopped()) return
        if (decision === 'replace') mayReplace = true
        else if (decision === 'keep-both') as = nextName(as)
        else return call.skip(file)
      }
    }
  }

  /** Shows restored files in the list of the present ones. */
  async function show(restored: readonly string[]): Promise<void> {
    const [name, ...others] = restored
    if (name === undefined) return
    files.refreshUsage()
    const found = others.length === 0 ? await client.stat(name).catch(() => undefined) : undefined
    if (found) files.add(found)
    else void files.load()
  }

  function report(call: RestoreCall): void {
    const restored = call.restored()
    const [name = ''] = restored
    if (restored.length > 0) {
      const isOne = restored.length === 1
      const text = isOne
        ? t('restoredOne', { name: shortName(name) })
        : plural('restoredMany', restored.length)
      after(shownMs, notify({ text, isError: false }))
    }
    const [only, ...others] = call.failed()
    if (only && others.length === 0) {
      notifyError(
        `${t('restoreFailed', { name: shortName(only.file.name) })} ${explainError(only.error)}`,
      )
    } else if (only) failed.value = [...failed.value, ...call.failed()]
  }

  const warn = (event: Event) => {
    if (running > 0) event.preventDefault()
  }
  page.addEventListener('beforeunload', warn)

  return {
    conflicts,
    failed,
    dismissFailed: () => void (failed.value = []),
    restore(chosen) {
      running++
      void restoreAll(chosen).finally(() => running--)
    },
    end() {
      ended.abort()
      conflicts.value = []
      failed.value = []
      page.removeEventListener('beforeunload', warn)
    },
  }
}

/** The files that are restored together: their progress, and what the user has decided for all of them. */
interface RestoreCall {
  /** Whether no further file is to be restored. */
  isStopped(): boolean
  /** Asks what to do, unless that was decided for all. */
  ask(name: string): Promise<Decision>
  succeed(file: ViewedFile, name: string): void
  fail(failure: FailedRestore): void
  skip(file: ViewedFile): void
  /** The names of the files that were restored. */
  restored(): readonly string[]
  failed(): readonly FailedRestore[]
  end(): void
}

function createCall(
  chosen: readonly ViewedFile[],
  conflicts: { value: readonly RestoreConflict[] },
  ended: AbortSignal,
): RestoreCall {
  const stopped = new AbortController()
  const isStopped = AbortSignal.any([stopped.signal, ended])
  const finished = new Set<ViewedFile>()
  const restored: string[] = []
  const failures: FailedRestore[] = []
  const done = signal(0)
  const waiting = new Map<RestoreConflict, (decision: Decision) => void>()
  let forAll: Decision | undefined
  const endProgress = showProgress(done, chosen.length, () => stopped.abort())

  const answer = (answered: readonly RestoreConflict[], decision: Decision) => {
    conflicts.value = conflicts.value.filter((each) => !answered.includes(each))
    for (const each of answered) {
      waiting.get(each)?.(decision)
      waiting.delete(each)
    }
  }
  isStopped.addEventListener('abort', () => answer([...waiting.keys()], 'skip'))

  const finish = (file: ViewedFile) => {
    finished.add(file)
    done.value = finished.size
  }

  return {
    isStopped: () => isStopped.aborted,
    async ask(name) {
      if (forAll !== undefined) return forAll
      const { promise, resolve } = Promise.withResolvers<Decision>()
      const conflict: RestoreConflict = {
        name,
        others: chosen.length - finished.size - 1,
        decide(decision, isForAll) {
          if (isForAll) forAll = decision
          answer(isForAll ? [...waiting.keys()] : [conflict], decision)
        },
      }
      waiting.set(conflict, resolve)
      conflicts.value = [...conflicts.value, conflict]
      return promise
    },
    succeed(file, name) {
      restored.push(name)
      finish(file)
    },
    fail(failure) {
      failures.push(failure)
      finish(failure.file)
      if (concernsAllFiles(failure.error)) stopped.abort()
    },
    skip: finish,
    restored: () => restored,
    failed() {
      const broken = failures.find(({ error }) => concernsAllFiles(error))
      if (!broken) return failures
      // The error would be that of the other files, too.
      const left = chosen.filter((file) => !finished.has(file))
      return [...failures, ...left.map((file) => ({ file, error: broken.error }))]
    },
    end: endProgress,
  }
}

/** Shows how many of `all` files are restored, and a button that stops that. */
function showProgress(done: ReadonlySignal<number>, all: number, stop: () => void): () => void {
  if (all === 1) return () => {}
  const count = (number: number) => formatCount(number, language.value)
  const text = () => t('restoringProgress', { done: count(done.value), all: count(all) })
  return notify({ text, isError: false, action: { label: t('stop'), run: stop } })
}

/** How long the notice offers to undo a restore, in milliseconds. */
const versionShownMs = 10_000
/** Among so many of the newest versions, the one that was replaced is searched: others may have replaced the file meanwhile. */
const mostSearched = 10

/** What a restored version changes. */
export interface VersionSite {
  readonly connection: Connection
  readonly files: Pick<FileList, 'add' | 'load' | 'refreshUsage'>
  readonly deletions: Pick<Deletions, 'finishDeletion' | 'cancelDeletion'>
  /** Aborts when the customer signs out: the next one must not see the names. */
  readonly ended: AbortSignal
}

/**
 * Makes an earlier version the present one, and says so with a button that undoes it.
 *
 * @throws HoldfastError if it is not restored
 */
export async function restoreVersion(
  site: VersionSite,
  name: string,
  { version, modified }: Pick<FileVersion, 'version' | 'modified'>,
): Promise<void> {
  const { client } = site.connection
  const present = await client.stat(name).catch(() => undefined)
  await store(site, name, version)
  const replaced = present && (await findVersion(client, name, present.modified))
  if (site.ended.aborted) return
  const date = formatSecond(new Date(modified), language.peek())
  const dismiss = notify({
    text: t('versionRestored', { name: shortName(name), date }),
    isError: false,
    ...(replaced !== undefined && {
      action: { label: t('undo'), run: () => void restoreAgain(site, name, replaced) },
    }),
  })
  afterTime(versionShownMs, dismiss)
}

/** Restores what `restoreVersion` has replaced. */
async function restoreAgain(site: VersionSite, name: string, version: string): Promise<void> {
  try {
    await store(site, name, version)
    if (site.ended.aborted) return
    afterTime(
      versionShownMs,
      notify({ text: t('versionUndone', { name: shortName(name) }), isError: false }),
    )
  } catch (error) {
    if (site.ended.aborted) return
    notifyError(`${t('restoreFailed', { name: shortName(name) })} ${explainError(error)}`)
  }
}

/** Restores a version in place of the present file, and shows that in the list. */
async function store(site: VersionSite, name: string, version: string): Promise<void> {
  const { connection, files, deletions } = site
  await deletions.finishDeletion(name)
  try {
    await connection.client.restore(name, { version })
  } catch (error) {
    // The server may have restored it.
    if (isHoldfastError(error, 'no-answer')) void files.load()
    throw error
  }
  deletions.cancelDeletion(name)
  files.refreshUsage()
  try {
    files.add(await connection.client.stat(name))
  } catch {
    // It is restored; the list says what is there now, or why it cannot.
    void files.load()
  }
}

/** The newest version that was stored at `modified`; `undefined` if there is none. */
async function findVersion(
  client: Client,
  name: string,
  modified: string,
): Promise<string | undefined> {
  let searched = 0
  try {
    for await (const version of client.versions(name, { pageSizes: [mostSearched] })) {
      if (version.modified === modified) return version.version
      if (++searched === mostSearched) return undefined
    }
  } catch {
    // Then it cannot be undone here.
  }
  return undefined
}
