import { signal } from '@preact/signals'
import { SlidersHorizontal } from 'lucide'
import type { JSX } from 'preact'
import { readSetting, writeSetting } from '../browser/storage.ts'
import { t } from '../i18n/language.ts'
import { Icon } from '../parts/icon.tsx'
import type { FileList } from './file-list-state.ts'

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
