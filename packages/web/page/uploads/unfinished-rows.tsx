import { History, X } from 'lucide'
import type { JSX } from 'preact'
import { Icon } from '../app/icon.tsx'
import { IconButton } from '../app/icon-button.tsx'
import { formatPercent } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { Uploads } from './run-uploads.ts'
import type { UnfinishedUpload } from './unfinished-uploads.ts'

/** The uploads of earlier visits that have not been taken up. */
export function unfinishedOf({ items, unfinished }: Uploads): readonly UnfinishedUpload[] {
  const all = unfinished.all.value
  if (all.length === 0) return all
  const known = new Set(items.peek().map(({ name }) => name.peek()))
  return all.filter(({ name }) => !known.has(name))
}

/** A row for each of them, whose file the browser may only read when it is chosen again. */
export function UnfinishedRows({ uploads }: { readonly uploads: Uploads }): JSX.Element {
  return (
    <>
      {unfinishedOf(uploads).map((upload) => (
        <UnfinishedRow
          key={upload.address}
          upload={upload}
          onForget={(address) => uploads.abandon(address)}
        />
      ))}
    </>
  )
}

interface UnfinishedRowProps {
  readonly upload: UnfinishedUpload
  readonly onForget: (address: string) => void
}

function UnfinishedRow({ upload, onForget }: UnfinishedRowProps): JSX.Element {
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
