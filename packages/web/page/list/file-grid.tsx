import type { ComponentChildren, JSX, RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState, useLayoutEffect } from 'preact/hooks'
import { ArrowDown, ArrowUp, CloudUpload, FolderOpen, SearchX, Trash2, TriangleAlert } from 'lucide'
import { signal } from '@preact/signals'
import type { ViewedFile } from '../api/connection.ts'
import { language, t, plural } from '../i18n/language.ts'
import { Icon } from '../parts/icon.tsx'
import type { StringKey } from '../i18n/strings.ts'
import { explainError } from '../parts/explain-error.ts'
import type { FileList, ListedFiles, RenamedFile } from './file-list-state.ts'
import { nextOrder, type Column } from './filter-and-sort.ts'
import { FileRow, openEntry, type RowActions, useRowMenu } from './file-row.tsx'
import { createTypeAhead, gridKey, selectRange, toggle, typedLetter } from './selection.ts'

interface FileGridProps {
  readonly files: ListedFiles
  /** The texts of a list that is not that of the present files. */
  readonly texts?: GridTexts
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly onSeen?: (rows: readonly [number, number]) => void
}

/** What a grid shows, when that happened, and what keys do. */
interface GridTexts {
  readonly label: StringKey
  readonly moment: StringKey
  readonly hint: StringKey
}

const fileTexts: GridTexts = { label: 'files', moment: 'columnModified', hint: 'gridHint' }

/** The list as a grid. The document contains only the visible rows. */
export function FileGrid(props: FileGridProps): JSX.Element {
  const { files, actions, texts = fileTexts, onSeen } = props
  const scroller = useRef<HTMLDivElement>(null)
  /** The name of the file that gets the focus once it is the active one. */
  const takesFocus = useRef<string>()
  const shown = files.visible.value
  const selected = files.selected.value
  const active = useActiveRow(shown, files.renamed.value)
  const { index: current } = active
  const height = useRowHeight()
  const virtual = useVirtualRows(scroller, { count: shown.length, height, active: current, onSeen })

  useEffect(() => {
    // An effect of an earlier rendering may run late, and must not focus the row that was active then.
    if (takesFocus.current === undefined || takesFocus.current !== shown[current]?.name) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)
    if (!row) return
    takesFocus.current = undefined
    row.focus({ preventScroll: true })
  })

  const selectTo = (index: number) => {
    files.selected.value = selectRange(selected, shown, active.anchor(), index)
  }
  const select = (file: ViewedFile, index: number, isRange: boolean) => {
    if (isRange) selectTo(index)
    else files.selected.value = toggle(selected, file.name)
    active.set(index)
    active.setAnchor(index)
  }

  const typeAhead = useMemo(() => createTypeAhead(), [])
  const menu = useRowMenu(shown, actions)
  // A row is rendered again only if its properties have changed.
  const latest = useRef(select)
  latest.current = select
  const rowActions = useMemo<RowActions>(
    () => ({
      ...actions,
      select: (...chosen) => latest.current(...chosen),
      menu: menu.openBelow,
    }),
    [actions],
  )

  const moveByLetter = (event: KeyboardEvent, isOnRow: boolean) => {
    const letter = isOnRow ? typedLetter(event) : undefined
    if (letter === undefined) return undefined
    const found = typeAhead(letter, shown, { current, prefix: files.folder.value })
    return found === undefined ? undefined : () => found
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const file = shown[current]
    if (!file || event.target instanceof HTMLInputElement) return
    const isOnRow = (event.target as HTMLElement).role === 'row'
    const key = gridKey(event, isOnRow) ?? moveByLetter(event, isOnRow)
    if (key === undefined) return
    // A held key deletes only one file, and a key on a column's head none.
    const isOfRow = (event.target as HTMLElement).closest('[data-index]') !== null
    if ((key === 'delete' || key === 'rename') && (event.repeat || !isOfRow)) return
    if ((key === 'rename' || key === 'delete') && !actions[key]) return
    if (key === 'open' && !actions.open && !file.folder) return
    event.preventDefault()
    if (typeof key === 'function') {
      const target = key(current, shown.length - 1, virtual.pageLength())
      if (event.shiftKey && event.key.length > 1) selectTo(target)
      else active.setAnchor(target)
      takesFocus.current = shown[target]?.name
      active.set(target)
      virtual.scrollTo(target)
    } else if (key === 'open') openEntry(file, actions.open)
    else if (key === 'select') select(file, current, event.shiftKey)
    else if (key === 'selectAll') files.selected.value = new Set(shown.map(({ name }) => name))
    else if (key === 'clear') files.selected.value = new Set()
    else if (key === 'rename') actions.rename?.(file)
    else {
      takesFocus.current = (shown[current + 1] ?? shown[current - 1])?.name
      actions.delete?.(file)
    }
  }

  return (
    <>
      <div
        class="grid"
        role="grid"
        aria-label={t(texts.label)}
        aria-rowcount={shown.length + 1}
        aria-multiselectable="true"
        aria-describedby="grid-hint"
        onKeyDown={onKeyDown}
        onContextMenu={menu.onContextMenu}
        onFocusIn={(event) => {
          const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
          if (row) active.set(Number(row.dataset['index']))
        }}
      >
        <GridHead files={files} moment={texts.moment} />
        <div ref={scroller} class="rows" role="rowgroup">
          <div class="rows-all" role="presentation" style={{ height: `${virtual.height}px` }}>
            {virtual.rows.map((index) => {
              const file = shown[index]
              return (
                file && (
                  <FileRow
                    key={file.name}
                    file={file}
                    index={index}
                    prefix={files.folder.value}
                    offset={index * height}
                    isSelected={selected.has(file.name)}
                    isActive={index === current}
                    actions={rowActions}
                  />
                )
              )
            })}
          </div>
        </div>
        {isPrinting.value && shown.length > mostPrinted && (
          <p class="print-rest">{plural('notPrinted', shown.length - mostPrinted)}</p>
        )}
        <p id="grid-hint" class="hidden" lang={language.value}>
          {t(texts.hint)}
        </p>
      </div>
      {menu.element}
    </>
  )
}

const columns: readonly (readonly [Column, StringKey])[] = [
  ['name', 'columnName'],
  ['type', 'columnType'],
  ['size', 'columnSize'],
  ['modified', 'columnModified'],
]

/** The heads of the columns; a click sorts by that column. */
function GridHead({
  files,
  moment,
}: {
  readonly files: ListedFiles
  readonly moment: StringKey
}): JSX.Element {
  const { column: sorted, isDescending } = files.order.value
  const shown = files.visible.value
  const chosen = files.selected.value
  const isAll = chosen.size > 0 && shown.every(({ name }) => chosen.has(name))
  const selectAll = () => {
    files.selected.value = isAll ? new Set() : new Set(shown.map(({ name }) => name))
  }
  return (
    <div class="grid-head" role="rowgroup">
      <div class="row row-head" role="row" aria-rowindex={1}>
        <div class="cell cell-select" role="columnheader">
          <input
            type="checkbox"
            checked={isAll}
            indeterminate={!isAll && chosen.size > 0}
            aria-label={t('selectAll')}
            onClick={selectAll}
          />
        </div>
        {columns.map(([column, label]) => (
          <div
            key={column}
            class={`cell cell-${column}`}
            role="columnheader"
            aria-sort={column === sorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
          >
            <button
              type="button"
              class="column"
              onClick={() => (files.order.value = nextOrder(files.order.value, column))}
            >
              {t(column === 'modified' ? moment : label)}
              {column === sorted && <Icon of={isDescending ? ArrowDown : ArrowUp} size={14} />}
            </button>
          </div>
        ))}
        <div class="cell cell-actions" role="columnheader">
          <span class="hidden">{t('menu')}</span>
        </div>
      </div>
    </div>
  )
}

/** The row on which keys act. */
interface ActiveRow {
  /** Its current index; -1 in an empty list. */
  readonly index: number
  set(index: number): void
  /** Where a range that is selected with the Shift key begins. */
  anchor(): number
  setAnchor(index: number): void
}

interface RowPosition {
  readonly name: string | undefined
  readonly index: number
}

/**
 * Follows the active file instead of its index: an upload, a rename or another order may move it at any time, and the Delete key must not
 * delete the file that is at its index then. If the file is gone, the index counts.
 */
export function useActiveRow(
  shown: readonly ViewedFile[],
  renamed: RenamedFile | undefined,
): ActiveRow {
  const [active, setActive] = useState<RowPosition>({ name: shown[0]?.name, index: 0 })
  const anchor = useRef<RowPosition>({ name: undefined, index: 0 })
  const index = useMemo(() => find(shown, active, renamed), [shown, active, renamed])
  const positionOf = (row: number) => ({ name: shown[row]?.name, index: row })
  return {
    index,
    set(row) {
      if (row !== index || shown[row]?.name !== active.name) setActive(positionOf(row))
    },
    anchor: () => find(shown, anchor.current, renamed),
    setAnchor: (row) => (anchor.current = positionOf(row)),
  }
}

function find(
  shown: readonly ViewedFile[],
  { name, index }: RowPosition,
  renamed: RenamedFile | undefined,
): number {
  if (shown[index]?.name === name) return index
  const indexOf = (wanted: string | undefined) => shown.findIndex((file) => file.name === wanted)
  const found = indexOf(name)
  if (found >= 0) return found
  const moved = indexOf(renamed?.from === name ? renamed?.to : undefined)
  return moved >= 0 ? moved : Math.min(index, shown.length - 1)
}

const narrow = matchMedia('(max-width: 40rem)')
const heightNow = () => (narrow.matches ? 64 : 48)

/** The height of a row in pixels, as in the style sheet: on narrow screens a row has two lines. */
function useRowHeight(): number {
  const [height, setHeight] = useState(heightNow)
  useEffect(() => {
    const update = () => setHeight(heightNow())
    narrow.addEventListener('change', update)
    return () => narrow.removeEventListener('change', update)
  }, [])
  return height
}

interface VirtualRows {
  /** The indexes of the rows that are in the document, ascending. */
  readonly rows: readonly number[]
  /** Of all rows, in pixels. */
  readonly height: number
  scrollTo(index: number): void
  /** How many rows are visible at a time. */
  pageLength(): number
}

interface Rows {
  readonly count: number
  /** In pixels; all rows have the same. */
  readonly height: number
  /** The row that always stays in the document, since it may have the focus. */
  readonly active: number
  /** Receives the first row in view, and the one after the last. */
  readonly onSeen: ((rows: readonly [number, number]) => void) | undefined
}

/** The most rows that are printed, on some forty pages. */
const mostPrinted = 1000

/** How many more rows there are above and below the visible ones. */
const spareRows = 8

/** The visible rows of a long list, those around them, and the active one. */
export function useVirtualRows(
  scroller: RefObject<HTMLElement>,
  { count, height, active, onSeen }: Rows,
): VirtualRows {
  const [seen, setSeen] = useState({ first: 0, length: 0 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () => {
      const first = Math.floor(element.scrollTop / height)
      const length = Math.ceil(element.clientHeight / height) + 1
      setSeen((known) =>
        known.first === first && known.length === length ? known : { first, length },
      )
    }
    look()
    const resized = new ResizeObserver(look)
    resized.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller, height])
  useEffect(() => onSeen?.([seen.first, seen.first + seen.length]), [seen])
  return {
    rows: isPrinting.value
      ? Array.from({ length: Math.min(count, mostPrinted) }, (_, index) => index)
      : rowsAround(seen, count, active),
    height: count * height,
    scrollTo(index) {
      const element = scroller.current
      if (!element) return
      const top = index * height
      const lowest = top + height - element.clientHeight
      element.scrollTop = Math.max(lowest, Math.min(element.scrollTop, top))
    },
    pageLength: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1),
  }
}

function rowsAround(
  seen: { readonly first: number; readonly length: number },
  count: number,
  active: number,
): readonly number[] {
  // After a list has become shorter, the browser scrolls it, and reports that later.
  const first = Math.max(0, Math.min(seen.first, count - seen.length) - spareRows)
  const end = Math.min(count, first + seen.length + 2 * spareRows)
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
  if (active >= 0 && active < first) return [active, ...rows]
  return active >= end ? [...rows, active] : rows
}

interface EmptyListProps {
  readonly files: ListedFiles
  /** Shown if the list is complete. */
  readonly children: ComponentChildren
}

/** Shown instead of rows if there are none. */
export function EmptyList({ files, children }: EmptyListProps): JSX.Element {
  const status = files.status.value
  if (typeof status === 'object') {
    return (
      <div class="empty" role="alert">
        <Icon of={TriangleAlert} size={40} />
        <h2>{t('listFailed')}</h2>
        <p>{explainError(status.error)}</p>
        <button type="button" class="button" onClick={() => void files.load()}>
          {t('reload')}
        </button>
      </div>
    )
  }
  if (files.inFolder.value.length > 0) {
    return (
      <div class="empty">
        <Icon of={SearchX} size={40} />
        <h2>{t('nothingMatches', { text: files.filter.value })}</h2>
        <button type="button" class="button" onClick={() => (files.filter.value = '')}>
          {t('clearFilter')}
        </button>
      </div>
    )
  }
  if (status === 'loading') return <div class="empty">{t('loading')}</div>
  return <>{children}</>
}

/** Shown to a customer without files, in a folder without files, and to a login that may not list them. */
export function NoFiles({ files }: { readonly files: FileList }): JSX.Element {
  if (files.status.value === 'hidden') {
    return (
      <div class="empty empty-new">
        <Icon of={CloudUpload} size={48} />
        <h2>{t('onlyAdding')}</h2>
        <p>{t('onlyAddingHint')}</p>
      </div>
    )
  }
  const deletingCount = files.deletingCount.value
  if (deletingCount > 0) {
    return (
      <div class="empty">
        <Icon of={Trash2} size={40} />
        <h2>{plural('beingDeleted', deletingCount)}</h2>
      </div>
    )
  }
  const isFolder = files.folder.value !== ''
  return (
    <div class="empty empty-new">
      <Icon of={isFolder ? FolderOpen : CloudUpload} size={48} />
      <h2>{t(isFolder ? 'noFilesInFolder' : 'noFiles')}</h2>
      <p>{t(isFolder ? 'noFilesInFolderHint' : 'noFilesHint')}</p>
      <p class="empty-rule">{t('folderRule')}</p>
    </div>
  )
}

/** Whether the browser is about to print the page, so that rows out of sight must be in the document, too. */
export const isPrinting = signal(false)

addEventListener('beforeprint', () => (isPrinting.value = true))
addEventListener('afterprint', () => (isPrinting.value = false))
