import { ChevronRight, House, ListPlus } from 'lucide'
import type { JSX } from 'preact'
import { formatCount } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { Icon } from '../parts/icon.tsx'
import type { FileList } from './file-list-state.ts'
import { crumbsOf, hashOfFolder } from './folders.ts'

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
