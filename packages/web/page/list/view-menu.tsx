import { SlidersHorizontal } from 'lucide'
import type { JSX } from 'preact'
import { t } from '../i18n/language.ts'
import { Icon } from '../parts/icon.tsx'
import type { FileList } from './file-list-state.ts'

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
