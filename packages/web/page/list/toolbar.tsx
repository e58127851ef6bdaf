import {
  ArchiveRestore,
  Download,
  FileArchive,
  FolderInput,
  Inbox,
  RefreshCw,
  Search,
  Trash2,
  X,
  type IconNode,
  SlidersHorizontal,
  ChevronRight,
  House,
  ListPlus,
} from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ViewedFile } from '../api/connection.ts'
import { explainError } from '../parts/explain-error.ts'
import { Icon, IconButton } from '../parts/icon.tsx'
import { formatCount, formatSize } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import { activeRow } from '../parts/document.ts'
import type { FileList, ListedFiles } from './file-list-state.ts'
import { selectedFiles, crumbsOf, hashOfFolder } from './folders.ts'
import { readSetting, writeSetting } from '../browser/storage-and-timers.ts'

interface StatusLineProps {
  readonly files: FileList
  // What the login may not do, or the server cannot do, is `undefined`.
  readonly onDownload: FilesAction | undefined
  readonly onDownloadZip: FilesAction | undefined
  readonly onMove: FilesAction | undefined
  readonly onDelete: FilesAction | undefined
  readonly onAsk: (() => void) | undefined
  /** The address of the deleted files. */
  readonly deletedFiles: string | undefined
}

type FilesAction = (files: readonly ViewedFile[]) => void

/** The number of files; for selected files, the possible actions. */
export function StatusLine(props: StatusLineProps): JSX.Element {
  const { files, onDownload, onDownloadZip, onMove, onDelete, onAsk, deletedFiles } = props
  const deletingCount = files.deletingCount.value
  // Then the empty list says so.
  const isEmpty = files.all.value.length === 0
  const tools: readonly SelectionTool[] = [
    { icon: Download, label: 'download', run: onDownload },
    { icon: FileArchive, label: 'downloadZip', run: onDownloadZip, isForSeveral: true },
    { icon: FolderInput, label: 'move', run: onMove },
    { icon: Trash2, label: 'delete', run: onDelete, isDanger: true },
  ]
  return (
    <SelectionTools files={files} tools={tools}>
      <div key="count" class="status">
        <FileCount
          files={files}
          note={isEmpty || deletingCount === 0 ? undefined : plural('beingDeleted', deletingCount)}
        />
        <QuotaBar files={files} />
        {onAsk && (
          <button
            type="button"
            class="button button-quiet"
            aria-label={t('askForFiles')}
            title={t('askForFiles')}
            onClick={onAsk}
          >
            <Icon of={Inbox} />
            <span>{t('askForFiles')}</span>
          </button>
        )}
        {deletedFiles !== undefined && (
          <a
            class="button button-quiet"
            href={deletedFiles}
            aria-label={t('deletedFiles')}
            title={t('deletedFiles')}
          >
            <Icon of={ArchiveRestore} />
            <span>{t('deletedFiles')}</span>
          </a>
        )}
        <ViewMenu files={files} />
        <IconButton icon={RefreshCw} label={t('reload')} onClick={() => void files.load()} />
      </div>
    </SelectionTools>
  )
}

/** How much of the quota is used; nothing without a quota. The menu of the account has it, too, for narrow windows. */
function QuotaBar({ files }: { readonly files: FileList }): JSX.Element | null {
  const { bytes = 0, quota } = files.usage.value ?? {}
  if (quota === undefined) return null
  const [used, all] = [bytes, quota].map((size) => formatSize(size, language.value))
  return (
    <div class={bytes > 0.9 * quota ? 'quota usage-short' : 'quota'}>
      <progress value={bytes} max={quota} aria-label={t('usageLabel')} />
      <span>{t('usageOf', { used: used ?? '', quota: all ?? '' })}</span>
    </div>
  )
}

/** What can be done with selected files. */
export interface SelectionTool {
  readonly icon: IconNode
  readonly label: StringKey
  /** `undefined` if it may not be done. */
  readonly run: FilesAction | undefined
  readonly isForSeveral?: boolean
  readonly isDanger?: boolean
}

interface SelectionToolsProps {
  readonly files: ListedFiles
  readonly tools: readonly SelectionTool[]
  /** Shown while no file is selected. */
  readonly children: JSX.Element
}

/** The number and the size of the selected files, and what can be done with them. */
export function SelectionTools({ files, tools, children }: SelectionToolsProps): JSX.Element {
  const chosen = selectedFiles(files.all.value, files.selected.value)
  if (chosen.length === 0) return children
  const size = chosen.reduce((sum, file) => sum + file.size, 0)
  // Another key than that of `children`: the focus of a tool then moves to the list, and not to a neighbour.
  return (
    <div
      key="selected"
      class="status status-selected"
      role="toolbar"
      aria-label={t('actionsFor', { name: '' })}
    >
      <IconButton
        icon={X}
        label={t('clearSelection')}
        onClick={() => (files.selected.value = new Set())}
      />
      <p role="status">
        {plural('selected', chosen.length)} · {formatSize(size, language.value)}
      </p>
      {tools.map(({ icon, label, run, isForSeveral = false, isDanger = false }) => {
        if (!run || (isForSeveral && chosen.length === 1)) return null
        return (
          <button
            key={label}
            type="button"
            class={isDanger ? 'button button-danger' : 'button'}
            aria-label={t(label)}
            onClick={() => run(chosen)}
          >
            <Icon of={icon} />
            <span>{t(label)}</span>
          </button>
        )
      })}
    </div>
  )
}

interface FileCountProps {
  readonly files: ListedFiles
  /** Follows the number. */
  readonly note: string | undefined
}

/** How many files there are, whether more are being loaded, and why that failed. */
export function FileCount({ files, note }: FileCountProps): JSX.Element {
  const inFolder = files.inFolder.value
  const all = inFolder.length
  const status = files.status.value
  const texts = [
    all > 0 && countOf(files),
    // Sizes are of interest where folders are.
    all > 0 && isWithFolders(files) && formatSize(sumOf(inFolder), language.value),
    note,
    status === 'loading' && all > 0 && t('loadingMore'),
  ].filter(Boolean)
  return (
    <>
      <p role="status">{texts.join(' · ')}</p>
      {typeof status === 'object' && all > 0 && (
        <p role="alert" class="status-problem">
          {t('listFailed')} {explainError(status.error)}
        </p>
      )}
    </>
  )
}

const sumOf = (files: readonly ViewedFile[]) => files.reduce((sum, { size }) => sum + size, 0)

const isWithFolders = ({ folder, visible }: ListedFiles) =>
  folder.value !== '' || visible.value[0]?.folder !== undefined

/** The number of folders and of files; with a filter, how many of the files match. */
function countOf({ visible, inFolder }: ListedFiles): string {
  const entries = visible.value
  const all = plural('fileCount', inFolder.value.length)
  // Folders come first.
  const firstFile = entries.findIndex(({ folder }) => folder === undefined)
  const folders = firstFile < 0 ? entries.length : firstFile
  if (folders > 0) return `${plural('folderCount', folders)} · ${all}`
  if (entries.length === inFolder.value.length) return all
  return t('filteredCount', { shown: formatCount(entries.length, language.value), all })
}

/** Filters while the user types. The key `/` moves the focus here from anywhere. */
export function FilterField({ files }: { readonly files: ListedFiles }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const clear = () => {
    files.filter.value = ''
    field.current?.focus()
  }
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, select, textarea, dialog')
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div class="filter" role="search">
      <Icon of={Search} />
      <input
        ref={field}
        type="text"
        inputMode="search"
        value={files.filter.value}
        aria-label={t('filter')}
        placeholder={t('filter')}
        spellcheck={false}
        onInput={({ currentTarget }) => (files.filter.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') clear()
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          activeRow(document)?.focus()
        }}
      />
      {files.filter.value !== '' && (
        <IconButton icon={X} label={t('clearFilter')} onClick={clear} />
      )}
    </div>
  )
}

/** Whether the list is shown as tiles. The browser keeps it. */
export const areTiles = signal(readSetting('view') === 'tiles')

function showTiles(areChosen: boolean): void {
  areTiles.value = areChosen
  writeSetting('view', areChosen ? 'tiles' : undefined)
}

/** How the list is shown. The browser opens and closes it, and keeps what is chosen. */
export function ViewMenu({ files }: { readonly files: FileList }): JSX.Element {
  return (
    <div class="view">
      <button
        type="button"
        class="icon-button"
        popovertarget="view-menu"
        aria-label={t('view')}
        title={t('view')}
      >
        <Icon of={SlidersHorizontal} />
      </button>
      <div id="view-menu" class="menu menu-view" popover="auto">
        <fieldset class="segments">
          <legend>{t('view')}</legend>
          {([false, true] as const).map((each) => (
            <label key={String(each)}>
              <input
                type="radio"
                name="view"
                checked={areTiles.value === each}
                onChange={() => showTiles(each)}
              />
              <span>{t(each ? 'viewTiles' : 'viewList')}</span>
            </label>
          ))}
        </fieldset>
        <label class="check">
          <input
            type="checkbox"
            checked={files.areFolders.value}
            onChange={({ currentTarget }) => (files.areFolders.value = currentTarget.checked)}
          />
          <span>
            {t('showFolders')}
            <small>{t('showFoldersHint')}</small>
          </span>
        </label>
      </div>
    </div>
  )
}

interface FolderBarProps {
  readonly files: FileList
  readonly children?: JSX.Element | false
}

/** The way to the open folder, what can be done with it, and whether names are missing in the list. */
export function FolderBar({ files, children }: FolderBarProps): JSX.Element | null {
  const crumbs = crumbsOf(files.folder.value)
  if (crumbs.length === 0) return <MissingNames files={files} />
  return (
    <>
      <div class="folder-bar">
        <nav class="crumbs" aria-label={t('folder')}>
          <ol>
            <li>
              <a href={hashOfFolder('')} aria-label={t('allFiles')} title={t('allFiles')}>
                <Icon of={House} />
              </a>
            </li>
            {crumbs.map(({ prefix, title }, index) => (
              <li key={prefix}>
                <Icon of={ChevronRight} size={16} />
                <a
                  href={hashOfFolder(prefix)}
                  title={title}
                  {...(index === crumbs.length - 1 && { 'aria-current': 'location' as const })}
                >
                  <bdi>{title}</bdi>
                </a>
              </li>
            ))}
          </ol>
        </nav>
        {children}
      </div>
      <MissingNames files={files} />
    </>
  )
}

/** Says that there are more names than the list has, and loads them. */
function MissingNames({ files }: { readonly files: FileList }): JSX.Element | null {
  if (!files.isCut.value) return null
  const count = formatCount(files.all.value.length, language.value)
  return (
    <div class="missing" role="status">
      <p>{t('listCut', { count })}</p>
      <button type="button" class="button" onClick={() => void files.loadRest()}>
        <Icon of={ListPlus} />
        {t('loadRest')}
      </button>
    </div>
  )
}
