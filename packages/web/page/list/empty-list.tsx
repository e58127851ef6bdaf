import { CloudUpload, SearchX, Trash2, TriangleAlert } from 'lucide'
import type { JSX } from 'preact'
import { explainError } from '../app/explain-error.ts'
import { Icon } from '../app/icon.tsx'
import { plural, t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'

/** What stands in the place of rows, where there are none. */
export function EmptyList({ files }: { readonly files: FileList }): JSX.Element {
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
  if (files.all.value.length > 0) {
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
  const leaving = files.leaving.value
  if (leaving > 0) {
    return (
      <div class="empty">
        <Icon of={Trash2} size={40} />
        <h2>{plural('leaving', leaving)}</h2>
      </div>
    )
  }
  return (
    <div class="empty empty-new">
      <Icon of={CloudUpload} size={48} />
      <h2>{t('noFiles')}</h2>
      <p>{t('noFilesHint')}</p>
      <p class="empty-rule">{t('folderRule')}</p>
    </div>
  )
}
