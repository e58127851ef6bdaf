import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState, useId } from 'preact/hooks'
import { isHoldfastError, type FileDetails, nameFromPath } from '@holdfast/client/browser'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { afterTime } from '../browser/storage-and-timers.ts'
import { shortName, splitExtension } from '../i18n/format.ts'
import { t, plural } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'
import type { Deletions } from './deletions.ts'
import type { FileList } from './file-list-state.ts'
import {
  filesBelow,
  folderPaths,
  movedName,
  nameInRenamed,
  pathOf,
  selectedFiles,
  selectedFolders,
} from './folders.ts'
import { moveFiles, type Move, type MoveSite } from './moves.ts'

/** How long the notice offers to take a rename back, in milliseconds. */
const shownMs = 10_000

interface RenameDialogProps {
  readonly site: RenameSite
  readonly file: FileDetails
  /** Whether the login may replace a file of the new name. */
  readonly mayReplace: boolean
  /** Whether a file that is replaced can be restored. */
  readonly isKept: boolean
  readonly onClose: () => void
}

/** What a rename changes. */
interface RenameSite {
  readonly connection: Connection
  readonly files: Pick<FileList, 'rename' | 'load' | 'refreshUsage' | 'expect'>
  readonly deletions: Pick<Deletions, 'finishDeletion' | 'cancelDeletion'>
  /** Aborts when the customer signs out: the next one must not see the names. */
  readonly ended: AbortSignal
}

/** Asks for the new name of a file, and asks again before another file is replaced. */
export function RenameDialog(props: RenameDialogProps): JSX.Element {
  const { site, file, mayReplace, isKept, onClose } = props
  const [name, setName] = useState(file.name)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  /** The name that is known to be taken. */
  const [taken, setTaken] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(0, splitExtension(file.name)[0].length)
  }, [])
  const isTaken = taken === name
  const submit = async (event: Event) => {
    event.preventDefault()
    if (name === file.name) return onClose()
    setBusy(true)
    setError(undefined)
    try {
      await rename(site, file.name, name, isTaken)
      if (site.ended.aborted) return
      onClose()
      const undo = () => void renameBack(site, file.name, name)
      const dismiss = notify({
        text: t('renamed', { from: shortName(file.name), name: shortName(name) }),
        isError: false,
        // A rename back would not restore the file that was replaced.
        ...(!isTaken && { action: { label: t('undo'), run: undo } }),
      })
      afterTime(shownMs, dismiss)
    } catch (failure) {
      setBusy(false)
      // The server may have renamed it.
      if (isHoldfastError(failure, 'no-answer')) void site.files.load()
      if (isHoldfastError(failure, 'already-exists') && mayReplace) setTaken(name)
      else if (isHoldfastError(failure, 'already-exists')) setError(t('nameTakenLead', { name }))
      else if (isHoldfastError(failure, 'invalid-field')) setError(t('errorName'))
      else setError(explainError(failure))
    }
  }
  return (
    <Dialog title={t('renameFile', { name: file.name })} class="rename" onClose={onClose}>
      <form class="rename-form" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>{t('newName')}</span>
          <input
            ref={field}
            value={name}
            required
            spellcheck={false}
            autocomplete="off"
            aria-describedby="rename-problem"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <p id="rename-problem" role="alert" class="form-error">
          {isTaken
            ? `${t('nameTakenLead', { name })} ${t(isKept ? 'replaceKeptHint' : 'replaceHint')}`
            : error}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" disabled={isBusy} onClick={onClose}>
            {t('keepName')}
          </button>
          <button
            type="submit"
            class={isTaken ? 'button button-danger' : 'button button-main'}
            disabled={isBusy}
          >
            {t(isTaken ? 'replace' : 'rename')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Renames the file, and shows that in the list. */
async function rename(
  { connection: { client }, files, deletions }: RenameSite,
  from: string,
  to: string,
  mayReplace: boolean,
): Promise<void> {
  // A deletion of that name which can still be undone would later delete the renamed file.
  await deletions.finishDeletion(to)
  files.expect(to)
  await client.rename(from, to, { createOnly: !mayReplace })
  deletions.cancelDeletion(to)
  try {
    files.rename(from, await client.stat(to))
    files.refreshUsage()
  } catch {
    // The rename is done; the list says what is there now, or why it cannot.
    void files.load()
  }
}

/** Takes a rename back. A file that has the earlier name by now stays. */
async function renameBack(site: RenameSite, from: string, to: string): Promise<void> {
  try {
    await rename(site, to, from, false)
  } catch (error) {
    if (site.ended.aborted) return
    const isTaken = isHoldfastError(error, 'already-exists')
    const reason = isTaken ? t('nameTakenLead', { name: shortName(from) }) : explainError(error)
    notifyError(`${t('renameFailed', { name: shortName(to) })} ${reason}`)
  }
}

/** The most folders that the field suggests. */
const mostSuggested = 500

interface MoveDialogProps {
  readonly site: FolderSite
  /** The selected entries of the list. */
  readonly selected: ReadonlySet<string>
  readonly onClose: () => void
}

/** What a move reads and changes. */
export interface FolderSite extends MoveSite {
  readonly files: FileList
}

/** Asks for the folder into which the selected files and folders are moved. */
export function MoveDialog({ site, selected, onClose }: MoveDialogProps): JSX.Element {
  const { files } = site
  const folders = selectedFolders(selected)
  const suggestions = useId()
  const submit = async (text: string, closed: AbortSignal) => {
    const path = text.trim()
    // The same rule as for the new names, so that no other way to write the path leads there.
    const target = nameFromPath(`${path}/_`)
    const isInside = [...folders].some((prefix) => target.startsWith(prefix))
    if (isInside) return t('moveIntoItself')
    for (const prefix of folders) await files.loadFolder(prefix)
    if (closed.aborted) return undefined
    const chosen = selectedFiles(files.all.peek(), selected)
    start(
      site,
      chosen.map((file) => ({ file, to: movedName(file.name, folders, path) })),
    )
    return undefined
  }
  const count = selectedFiles(files.all.value, selected).length
  return (
    <PathDialog
      title={plural('moveFiles', count)}
      label={t('moveTo')}
      hint={t('moveToHint')}
      action={t('move')}
      initial={pathOf(files.folder.value)}
      suggestions={suggestions}
      onSubmit={submit}
      onClose={onClose}
    >
      <datalist id={suggestions}>
        {folderPaths(files.all.value)
          .slice(0, mostSuggested)
          .map((path) => (
            <option key={path} value={path} />
          ))}
      </datalist>
    </PathDialog>
  )
}

interface RenameFolderDialogProps {
  readonly site: FolderSite
  readonly folder: NonNullable<ViewedFile['folder']>
  readonly onClose: () => void
}

/** Asks for the new name of a folder, which the names of all its files get. */
export function RenameFolderDialog({ site, folder, onClose }: RenameFolderDialogProps) {
  const { files } = site
  const { prefix, title } = folder
  const submit = async (text: string, closed: AbortSignal) => {
    const renamed = text.trim()
    if (renamed === '') return t('errorName')
    await files.loadFolder(prefix)
    if (closed.aborted) return undefined
    const moves = filesBelow(files.all.peek(), prefix).map((file) => ({
      file,
      to: nameInRenamed(file.name, prefix, renamed),
    }))
    start(site, moves)
    return undefined
  }
  return (
    <PathDialog
      title={t('renameFolder', { name: title })}
      label={t('newName')}
      hint={t('renameFolderHint')}
      action={t('rename')}
      initial={title}
      onSubmit={submit}
      onClose={onClose}
    />
  )
}

function start(site: FolderSite, moves: readonly Move[]): void {
  site.files.selected.value = new Set()
  void moveFiles(site, moves)
}

interface PathDialogProps {
  readonly title: string
  readonly label: string
  readonly hint: string
  readonly action: string
  readonly initial: string
  /** The id of a `datalist`. */
  readonly suggestions?: string
  /** Resolves with what is wrong, or `undefined` if it has begun. `closed` aborts when the dialog is closed before. */
  readonly onSubmit: (text: string, closed: AbortSignal) => Promise<string | undefined>
  readonly onClose: () => void
  readonly children?: JSX.Element
}

/** A dialog with one field. */
function PathDialog(props: PathDialogProps): JSX.Element {
  const { title, label, hint, action, initial, suggestions, onSubmit, onClose, children } = props
  const [text, setText] = useState(initial)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const [closed] = useState(() => new AbortController())
  useEffect(() => () => closed.abort(), [closed])
  const field = useRef<HTMLInputElement>(null)
  const hintId = useId()
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const problem = await onSubmit(text, closed.signal).catch(explainError)
    if (closed.signal.aborted) return
    setBusy(false)
    if (problem === undefined) onClose()
    else setError(problem)
  }
  return (
    <Dialog title={title} class="rename" onClose={onClose}>
      <form class="rename-form" onSubmit={(event) => void submit(event)}>
        <div class="field-with-hint">
          <label class="field">
            <span>{label}</span>
            <input
              ref={field}
              value={text}
              list={suggestions}
              spellcheck={false}
              autocomplete="off"
              aria-describedby={hintId}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
          <small id={hintId}>{hint}</small>
        </div>
        {children}
        <p role="alert" class="form-error">
          {error}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t('cancelMove')}
          </button>
          <button type="submit" class="button button-main" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
