import { nameFromPath } from '@holdfast/client/browser'
import type { JSX } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { plural, t } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import type { ViewedFile } from '../api/connection.ts'
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
  const submit = async (text: string) => {
    const path = text.trim()
    // The same rule as for the new names, so that no other way to write the path leads there.
    const target = nameFromPath(`${path}/_`)
    const isInside = [...folders].some((prefix) => target.startsWith(prefix))
    if (isInside) return t('moveIntoItself')
    for (const prefix of folders) await files.loadFolder(prefix)
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
  const submit = async (text: string) => {
    const renamed = text.trim()
    if (renamed === '') return t('errorName')
    await files.loadFolder(prefix)
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
  /** Resolves with what is wrong, or `undefined` if it has begun. */
  readonly onSubmit: (text: string) => Promise<string | undefined>
  readonly onClose: () => void
  readonly children?: JSX.Element
}

/** A dialog with one field. */
function PathDialog(props: PathDialogProps): JSX.Element {
  const { title, label, hint, action, initial, suggestions, onSubmit, onClose, children } = props
  const [text, setText] = useState(initial)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const hintId = useId()
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const problem = await onSubmit(text).catch(explainError)
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
