import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { FileDetails } from '@holdfast/client/browser'
import { language, t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'
import { FileRow, type RowActions } from './file-row.tsx'
import { GridHead } from './grid-head.tsx'
import { gridKey } from './grid-key.ts'
import { selectRange, toggle } from './selection.ts'
import { useActiveRow } from './use-active-row.ts'
import { useRowHeight } from './use-row-height.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

interface FileGridProps {
  readonly files: FileList
  readonly actions: Omit<RowActions, 'select'>
}

/** The list as a grid, of which only the rows in sight are in the document. */
export function FileGrid({ files, actions }: FileGridProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  /** The name of the file that is to have the focus once it is the active one. */
  const takesFocus = useRef<string>()
  const shown = files.visible.value
  const selected = files.selected.value
  const active = useActiveRow(shown)
  const { index: current } = active
  const height = useRowHeight()
  const virtual = useVirtualRows(scroller, { count: shown.length, height, active: current })

  useEffect(() => {
    // An effect of an earlier rendering may come late: it is not to focus the row that was active then.
    if (takesFocus.current === undefined || takesFocus.current !== shown[current]?.name) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)
    if (!row) return
    takesFocus.current = undefined
    row.focus({ preventScroll: true })
  })

  const selectTo = (index: number) => {
    files.selected.value = selectRange(selected, shown, active.anchor(), index)
  }
  const select = (file: FileDetails, index: number, isRange: boolean) => {
    if (isRange) selectTo(index)
    else files.selected.value = toggle(selected, file.name)
    active.set(index)
    active.setAnchor(index)
  }

  // A row is drawn anew only if what it is given has changed.
  const latest = useRef(select)
  latest.current = select
  const rowActions = useMemo<RowActions>(
    () => ({ ...actions, select: (...chosen) => latest.current(...chosen) }),
    [actions],
  )

  const onKeyDown = (event: KeyboardEvent) => {
    const file = shown[current]
    if (!file || event.target instanceof HTMLInputElement) return
    const isOnRow = (event.target as HTMLElement).role === 'row'
    const key = gridKey(event, isOnRow)
    if (key === undefined) return
    // A key that is held deletes one file, and one on the head of a column none.
    const isOfRow = (event.target as HTMLElement).closest('[data-index]') !== null
    if (key === 'delete' && (event.repeat || !isOfRow)) return
    event.preventDefault()
    if (typeof key === 'function') {
      const target = key(current, shown.length - 1, virtual.pageLength())
      if (event.shiftKey) selectTo(target)
      else active.setAnchor(target)
      takesFocus.current = shown[target]?.name
      active.set(target)
      virtual.scrollTo(target)
    } else if (key === 'open') actions.open(file)
    else if (key === 'select') select(file, current, event.shiftKey)
    else if (key === 'selectAll') files.selected.value = new Set(shown.map(({ name }) => name))
    else if (key === 'clear') files.selected.value = new Set()
    else {
      takesFocus.current = (shown[current + 1] ?? shown[current - 1])?.name
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
        if (row) active.set(Number(row.dataset['index']))
      }}
    >
      <GridHead files={files} />
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
      <p id="grid-hint" class="hidden" lang={language.value}>
        {t('gridHint')}
      </p>
    </div>
  )
}
