import {
  Download,
  EllipsisVertical,
  Eye,
  History,
  Link,
  Pencil,
  Trash2,
  Undo2,
  File,
  FileArchive,
  FileImage,
  FileMusic,
  FilePlay,
  FileSpreadsheet,
  FileText,
  FileType,
  Folder,
  type IconNode,
} from 'lucide'
import type { JSX } from 'preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ViewedFile } from '../api/connection.ts'
import { IconButton, Icon } from '../parts/icon.tsx'
import { formatDate, formatMoment, formatSize, splitName } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import { fileKind, type FileKind } from './file-kind.ts'
import { hashOfFolder } from './folders.ts'

export type FileAction = (file: ViewedFile) => void

export interface RowActions {
  // What the login may not do, or the server cannot do, is `undefined`.
  readonly open: FileAction | undefined
  readonly download: FileAction | undefined
  readonly link: FileAction | undefined
  readonly rename: FileAction | undefined
  readonly versions: FileAction | undefined
  readonly restore: FileAction | undefined
  readonly delete: FileAction | undefined
  select(file: ViewedFile, index: number, isRange: boolean): void
  /** Shows all actions, below an element. */
  menu(file: ViewedFile, below: Element): void
}

interface FileRowProps {
  readonly file: ViewedFile
  readonly index: number
  /** The prefix of the open folder, which the row leaves out. */
  readonly prefix: string
  readonly offset: number
  readonly isSelected: boolean
  /** Whether the Tab key reaches this row. */
  readonly isActive: boolean
  readonly actions: RowActions
}

/** One file of the list. */
export function FileRow(props: FileRowProps): JSX.Element {
  const { file, index, prefix, offset, isSelected, isActive, actions } = props
  const { folder } = file
  // Titles are what a person reads; a folder's own name is for the page.
  const name = folder?.title ?? file.name
  const kind = fileKind(file)
  const [start, end] = folder ? [name, ''] : splitName(withoutPrefix(name, prefix))
  const modified = new Date(file.modified)
  const tabIndex = isActive ? 0 : -1
  const { open, download, rename, restore } = actions
  // A folder is no file of the server's.
  const [link, versions] = folder ? [] : [actions.link, actions.versions]
  return (
    <div
      class={folder ? 'row row-folder' : 'row'}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-index={index}
      {...(folder && { 'data-folder': folder.prefix, 'data-title': folder.title })}
      tabIndex={tabIndex}
      style={{ transform: `translateY(${offset}px)` }}
      onClick={(event) => {
        // Whoever marks text selects no file.
        const isMarking = getSelection()?.isCollapsed === false
        if (isBesideControls(event) && !isMarking) actions.select(file, index, event.shiftKey)
      }}
      onDblClick={(event) => {
        if (isBesideControls(event)) openEntry(file, open)
      }}
    >
      <div class="cell cell-select" role="gridcell">
        <input
          type="checkbox"
          checked={isSelected}
          tabIndex={tabIndex}
          aria-label={t('select', { name })}
          onClick={(event) => {
            // A click with Shift always selects; the browser may have unticked the box.
            if (event.shiftKey) event.currentTarget.checked = true
            actions.select(file, index, event.shiftKey)
          }}
        />
      </div>
      <div class="cell cell-name" role="gridcell">
        {folder ? <FolderIcon /> : <KindIcon kind={kind} />}
        <button
          type="button"
          class="name"
          tabIndex={tabIndex}
          title={name}
          aria-label={folder ? t('openFolder', { name }) : open ? t('open', { name }) : name}
          onClick={() => openEntry(file, open)}
        >
          <bdi class="name-parts">
            <span class="name-start">{start}</span>
            <span class="name-end">{end}</span>
          </bdi>
        </button>
      </div>
      <div class="cell cell-type" role="gridcell">
        {folder ? plural('fileCount', folder.count) : t(kindNames[kind])}
      </div>
      <div class="cell cell-size" role="gridcell">
        {folder && <span class="narrow">{plural('fileCount', folder.count)} · </span>}
        {formatSize(file.size, language.value)}
      </div>
      <div class="cell cell-modified" role="gridcell">
        <time dateTime={file.modified} title={momentsOf(file)}>
          {formatDate(modified, new Date(), language.value)}
        </time>
      </div>
      <div class="cell cell-actions" role="gridcell">
        <IconButton
          icon={EllipsisVertical}
          class="row-more"
          label={t('actionsFor', { name })}
          tabIndex={tabIndex}
          onClick={({ currentTarget }) => actions.menu(file, currentTarget as Element)}
        />
        {download && (
          <IconButton
            icon={Download}
            label={t('downloadFile', { name })}
            tabIndex={tabIndex}
            onClick={() => download(file)}
          />
        )}
        {link && (
          <IconButton
            icon={Link}
            label={t('makeLink')}
            tabIndex={tabIndex}
            onClick={() => link(file)}
          />
        )}
        {rename && (
          <IconButton
            icon={Pencil}
            label={t('renameFile', { name })}
            tabIndex={tabIndex}
            onClick={() => rename(file)}
          />
        )}
        {versions && (
          <IconButton
            icon={History}
            label={t('versionsOf', { name })}
            tabIndex={tabIndex}
            onClick={() => versions(file)}
          />
        )}
        {restore && (
          <IconButton
            icon={Undo2}
            label={t('restoreFile', { name })}
            tabIndex={tabIndex}
            onClick={() => restore(file)}
          />
        )}
        {actions.delete && (
          <IconButton
            icon={Trash2}
            label={t('deleteFile', { name })}
            tabIndex={tabIndex}
            onClick={() => actions.delete?.(file)}
          />
        )}
      </div>
    </div>
  )
}

/** Opens a folder, or a file if `open` can. */
export function openEntry(entry: ViewedFile, open: FileAction | undefined): void {
  if (entry.folder) location.hash = hashOfFolder(entry.folder.prefix)
  else open?.(entry)
}

/** The name as it reads in the folder with this prefix. */
export function withoutPrefix(name: string, prefix: string): string {
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** Whether a click was on the row itself. */
function isBesideControls({ target }: MouseEvent): boolean {
  return !(target as Element).closest('button, input')
}

/** An action of a file in a menu. */
interface MenuAction {
  readonly icon: IconNode
  readonly label: StringKey
  readonly run: FileAction
}

/** What may be done with a file or a folder. */
export function fileActions(
  { folder }: ViewedFile,
  actions: Omit<RowActions, 'select' | 'menu'>,
): readonly MenuAction[] {
  const open: FileAction | undefined =
    folder || actions.open ? (file) => openEntry(file, actions.open) : undefined
  const [link, versions] = folder ? [] : [actions.link, actions.versions]
  const all = [
    { icon: Eye, label: 'openFile', run: open },
    { icon: Download, label: 'download', run: actions.download },
    { icon: Link, label: 'makeLink', run: link },
    { icon: Pencil, label: 'rename', run: actions.rename },
    { icon: History, label: 'earlierVersions', run: versions },
    { icon: Undo2, label: 'restore', run: actions.restore },
    { icon: Trash2, label: 'delete', run: actions.delete },
  ] as const
  return all.flatMap(({ run, ...action }) => (run ? [{ ...action, run }] : []))
}

/** When the file was changed and, if it expires, when that will be. */
function momentsOf({ modified, expires }: ViewedFile): string {
  const changed = formatMoment(new Date(modified), language.value)
  if (expires === undefined) return changed
  return `${changed}\n${t('expires', { date: formatMoment(new Date(expires), language.value) })}`
}

const icons: Readonly<Record<FileKind, IconNode>> = {
  image: FileImage,
  video: FilePlay,
  audio: FileMusic,
  text: FileText,
  pdf: FileType,
  archive: FileArchive,
  sheet: FileSpreadsheet,
  document: FileText,
  other: File,
}

const kindNames: Readonly<Record<FileKind, StringKey>> = {
  image: 'kindImage',
  video: 'kindVideo',
  audio: 'kindAudio',
  text: 'kindText',
  pdf: 'kindPdf',
  archive: 'kindArchive',
  sheet: 'kindSheet',
  document: 'kindDocument',
  other: 'kindOther',
}

export function FolderIcon(): JSX.Element {
  return (
    <span class="kind kind-folder">
      <Icon of={Folder} size={20} />
    </span>
  )
}

export function KindIcon({ kind }: { readonly kind: FileKind }): JSX.Element {
  return (
    <span class={`kind kind-${kind}`}>
      <Icon of={icons[kind]} size={20} />
    </span>
  )
}

/** The menu of one of the entries `shown`, each of which stands in an element with its index in `data-index`. */
export function useRowMenu(shown: readonly ViewedFile[], actions: RowMenuProps['actions']) {
  const [menu, setMenu] = useState<OpenMenu>()
  const openBelow = useCallback((file: ViewedFile, button: Element) => {
    const { left, bottom } = button.getBoundingClientRect()
    setMenu({ file, x: left, y: bottom })
  }, [])
  return {
    openBelow,
    /** For the right button, and for the key that does the same. */
    onContextMenu: (event: MouseEvent) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
      const file = shown[Number(row?.dataset['index'])]
      // With Shift the browser shows its own menu.
      if (!row || !file || event.shiftKey) return
      event.preventDefault()
      setMenu({ file, x: event.clientX, y: event.clientY })
    },
    element: menu && <RowMenu menu={menu} actions={actions} onClose={() => setMenu(undefined)} />,
  }
}

/** Where a menu opens, in pixels from the left and the top of the window. */
interface OpenMenu {
  readonly file: ViewedFile
  readonly x: number
  readonly y: number
}

interface RowMenuProps {
  readonly menu: OpenMenu
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly onClose: () => void
}

/**
 * The actions of a file, at the pointer or below the button of its row. It closes itself: an automatic popover that opens while the right
 * button is down is closed by some browsers when that goes up.
 */
function RowMenu({ menu, actions, onClose }: RowMenuProps): JSX.Element {
  const { file, x, y } = menu
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const focused = document.activeElement
    const shown = element.current
    shown?.showPopover()
    const { offsetWidth: width = 0, offsetHeight: height = 0 } = shown ?? {}
    shown?.style.setProperty('left', `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`)
    shown?.style.setProperty('top', `${Math.max(8, Math.min(y, innerHeight - height - 8))}px`)
    shown?.querySelector('button')?.focus()
    const closeOutside = ({ target }: Event) => {
      if (!shown?.contains(target as Node)) onClose()
    }
    addEventListener('pointerdown', closeOutside)
    addEventListener('scroll', closeOutside, true)
    return () => {
      removeEventListener('pointerdown', closeOutside)
      removeEventListener('scroll', closeOutside, true)
      if (focused instanceof HTMLElement && document.activeElement === document.body) {
        focused.focus()
      }
    }
  }, [menu])
  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...(element.current?.querySelectorAll('button') ?? [])]
    const at = items.findIndex((item) => item === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    // The list has keys of its own.
    event.stopPropagation()
    if (event.key === 'Tab' || event.key === 'Escape') onClose()
    if (to === undefined) return
    event.preventDefault()
    items.at(to % items.length)?.focus()
  }
  return (
    <div
      ref={element}
      class="row-menu"
      role="menu"
      popover="manual"
      aria-label={t('actionsFor', { name: file.folder?.title ?? file.name })}
      onKeyDown={onKeyDown}
    >
      {fileActions(file, actions).map(({ icon, label, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          onClick={() => {
            onClose()
            run(file)
          }}
        >
          <Icon of={icon} />
          {t(label)}
        </button>
      ))}
    </div>
  )
}
