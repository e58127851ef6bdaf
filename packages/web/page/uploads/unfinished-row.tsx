import { History, X } from 'lucide'
import type { JSX } from 'preact'
import { Icon } from '../app/icon.tsx'
import { IconButton } from '../app/icon-button.tsx'
import { formatPercent } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { UnfinishedUpload } from './unfinished-uploads.ts'

interface UnfinishedRowProps {
  readonly upload: UnfinishedUpload
  readonly onForget: (address: string) => void
}

/** An upload of an earlier visit, whose file the browser may only read when it is chosen again. */
export function UnfinishedRow({ upload, onForget }: UnfinishedRowProps): JSX.Element {
  const { name, sent, size, address } = upload
  const percent = formatPercent(sent / size, language.value)
  return (
    <li class="upload upload-unfinished">
      <Icon of={History} />
      <div class="upload-text">
        <bdi class="name-parts" title={name}>
          {name}
        </bdi>
        <span class="upload-note">{t('resumeHint', { percent })}</span>
      </div>
      <div class="upload-actions">
        <IconButton icon={X} label={t('forget', { name })} onClick={() => onForget(address)} />
      </div>
    </li>
  )
}
