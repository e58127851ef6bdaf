import { ArrowDown, ArrowUp } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { FileEntry } from '../api/file-entry.ts'
import { Icon } from '../app/icon.tsx'
import { language, t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import type { FileList } from './file-list-state.ts'
import { FileRow, type RowActions } from './file-row.tsx'
import { gridKey } from './grid-key.ts'
import { selectRange, toggle } from './selection.ts'
import { nextOrder, type Column } from './sort-files.ts'
import { useRowHeight } from './use-row-height.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

const columns: readonly (readonly [Column, StringKey])[] = [
  ['name', 'columnName'],
  ['type', 'columnType'],
  ['size', 'columnSize'],
  ['modified', 'columnModified'],
]

interface FileGridProps {
  readonly files: FileList
  readonly actions: Omit<RowActions, 'select'>
}

/** The list as a grid, of which only the rows in sight are in the document. */
export function FileGrid({ files, actions }: FileGridProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const anchor = useRef(0)
  const takesFocus = useRef(false)
  const shown = files.visible.value
  const virtual = useVirtualRows(scroller, shown.length, useRowHeight())
  const current = Math.min(active, shown.length - 1)
  const selected = files.selected.value

  useEffect(() => {
    if (!takesFocus.current) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)
    if (!row) return
    takesFocus.current = false
    row.focus({ preventScroll: true })
  })

  const select = (file: FileEntry, index: number, isRange: boolean) => {
    files.selected.value = isRange
      ? selectRange(selected, shown, anchor.current, index)
      : toggle(selected, file.name)
    anchor.current = index
    setActive(index)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    const file = shown[current]
    if (!file || event.target instanceof HTMLInputElement) return
    const isOnRow = (event.target as HTMLElement).role === 'row'
    const key = gridKey(event, isOnRow)
    if (key === undefined) return
    event.preventDefault()
    if (typeof key === 'function') {
      const target = key(current, shown.length - 1, virtual.pageLength())
      if (event.shiftKey)
        files.selected.value = selectRange(selected, shown, anchor.current, target)
      else anchor.current = target
      takesFocus.current = true
      setActive(target)
      virtual.scrollTo(target)
    } else if (key === 'open') actions.open(file)
    else if (key === 'select') select(file, current, event.shiftKey)
    else if (key === 'selectAll') files.selected.value = new Set(shown.map(({ name }) => name))
    else if (key === 'clear') files.selected.value = new Set()
    else {
      takesFocus.current = true
      actions.delete(file)
    }
  }

  return (
    <div
      class="grid"
      role="grid"
      aria-label={t('files')}
      aria-rowcount={shown.length + 1}
      aria-multiselectable="true"
      aria-describedby="grid-hint"
      onKeyDown={onKeyDown}
      onFocusIn={(event) => {
        const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
        if (row) setActive(Number(row.dataset['index']))
      }}
    >
      <GridHead files={files} />
      <div ref={scroller} class="rows" role="rowgroup">
        <div class="rows-all" role="presentation" style={{ height: `${virtual.height}px` }}>
          {virtual.rows.map(({ index, start }) => {
            const file = shown[index]
            return (
              file && (
                <FileRow
                  key={file.name}
                  file={file}
                  index={index}
                  offset={start}
                  isSelected={selected.has(file.name)}
                  isActive={index === current}
                  actions={{ ...actions, select }}
                />
              )
            )
          })}
        </div>
      </div>
      <p id="grid-hint" class="hidden" lang={language.value}>
        {t('gridHint')}
      </p>
    </div>
  )
}

/** The heads of the columns, which sort. */
function GridHead({ files }: { readonly files: FileList }): JSX.Element {
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
              {t(label)}
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
