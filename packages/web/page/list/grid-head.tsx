import { ArrowDown, ArrowUp } from 'lucide'
import type { JSX } from 'preact'
import { Icon } from '../app/icon.tsx'
import { t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import type { FileList } from './file-list-state.ts'
import { nextOrder, type Column } from './sort-files.ts'

const columns: readonly (readonly [Column, StringKey])[] = [
  ['name', 'columnName'],
  ['type', 'columnType'],
  ['size', 'columnSize'],
  ['modified', 'columnModified'],
]

/** The heads of the columns, which sort. */
export function GridHead({ files }: { readonly files: FileList }): JSX.Element {
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
