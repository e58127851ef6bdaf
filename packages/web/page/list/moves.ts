import { concernsAllFiles, isHoldfastError } from '@holdfast/client/browser'
import { signal } from '@preact/signals'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { afterTime } from '../browser/storage-and-timers.ts'
import { formatCount } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'
import type { Deletions } from './deletions.ts'
import type { FileList } from './file-list-state.ts'

/** The most requests at a time. */
const concurrency = 4
/** How long the notice offers to undo a move, in milliseconds. */
const shownMs = 10_000

/** A file, and the name that it gets. */
export interface Move {
  readonly file: ViewedFile
  readonly to: string
}

export interface MoveSite {
  readonly connection: Connection
  readonly files: Pick<FileList, 'rename' | 'load' | 'expect'>
  readonly deletions: Pick<Deletions, 'finishDeletion' | 'cancelDeletion'>
  /** Aborts when the customer signs out. */
  readonly ended: AbortSignal
}

/**
 * Renames files one by one, several at a time, with the number that is done and a button that stops it. A name that is taken keeps its
 * file, and the file to be moved stays where it is. Resolves when all is done and reported, or the customer has signed out. Never rejects.
 */
export async function moveFiles(site: MoveSite, moves: readonly Move[]): Promise<void> {
  const { connection, files, deletions, ended } = site
  const wanted = moves.filter(({ file, to }) => file.name !== to)
  const stopped = new AbortController()
  const moved: Move[] = []
  const failed: FailedMove[] = []
  const done = signal(0)
  const endProgress = showProgress(done, wanted.length, () => stopped.abort())

  async function moveOne(move: Move): Promise<void> {
    const { file, to } = move
    try {
      // A deletion of that name which can still be undone would later delete the moved file.
      await deletions.finishDeletion(to)
      files.expect(to)
      await connection.client.rename(file.name, to, { createOnly: true })
      deletions.cancelDeletion(to)
      files.rename(file.name, { ...file, name: to })
      moved.push(move)
    } catch (error) {
      failed.push({ move, error })
      if (concernsAllFiles(error)) stopped.abort()
    }
    done.value += 1
  }

  const next = wanted.values()
  const lane = async () => {
    for (const move of next) {
      if (stopped.signal.aborted || ended.aborted) return
      await moveOne(move)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, wanted.length) }, lane))
  endProgress()
  // The next user must not see the names.
  if (ended.aborted) return
  report(site, moved, failed)
  // The list says what the server has: a lost answer leaves that open.
  if (wanted.length > 0) void files.load()
}

interface FailedMove {
  readonly move: Move
  readonly error: unknown
}

/** Shows how many of `all` files are moved, and a button that stops it, unless it is only one. */
function showProgress(done: { readonly value: number }, all: number, stop: () => void): () => void {
  if (all < 2) return () => {}
  const count = (number: number) => formatCount(number, language.value)
  const text = () => t('movingProgress', { done: count(done.value), all: count(all) })
  return notify({ text, isError: false, action: { label: t('stop'), run: stop } })
}

function report(site: MoveSite, moved: readonly Move[], failed: readonly FailedMove[]): void {
  if (moved.length > 0) {
    const back = moved.map(({ file, to }) => ({ file: { ...file, name: to }, to: file.name }))
    const undo = { label: t('undo'), run: () => void moveFiles(site, back) }
    afterTime(
      shownMs,
      notify({ text: plural('moved', moved.length), isError: false, action: undo }),
    )
  }
  const taken = failed.filter(({ error }) => isHoldfastError(error, 'already-exists'))
  if (taken.length > 0) notifyError(textOfTaken(taken))
  const [other, ...more] = failed.filter((each) => !taken.includes(each))
  if (!other) return
  const { name } = other.move.file
  const text =
    more.length === 0 ? t('renameFailed', { name }) : plural('moveFailedMany', more.length + 1)
  notifyError(`${text} ${explainError(other.error)}`)
}

function textOfTaken(taken: readonly FailedMove[]): string {
  const [first] = taken
  if (taken.length > 1 || !first) return plural('moveTaken', taken.length)
  const { file, to } = first.move
  return `${t('renameFailed', { name: file.name })} ${t('nameTakenLead', { name: to })}`
}
