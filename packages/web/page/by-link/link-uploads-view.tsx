import { CircleCheck, Upload } from 'lucide'
import type { JSX } from 'preact'
import { useCallback, useRef } from 'preact/hooks'
import { Icon } from '../app/icon.tsx'
import { notifyError } from '../app/notices.ts'
import { plural, t } from '../i18n/language.ts'
import { chosenFiles, type NamedFile } from '../uploads/collect-files.ts'
import { DropZone } from '../uploads/drop-zone.tsx'
import type { Uploads } from '../uploads/run-uploads.ts'
import { UnfinishedRows, unfinishedOf } from '../uploads/unfinished-rows.tsx'
import { UploadRow } from '../uploads/upload-row.tsx'
import { UploadSummary } from '../uploads/upload-summary.tsx'
import type { LinkTerms } from './link-terms.ts'

interface LinkUploadsViewProps {
  readonly terms: LinkTerms
  readonly uploads: Uploads
}

/** Where files are chosen or dropped, and what becomes of them. */
export function LinkUploadsView({ terms, uploads }: LinkUploadsViewProps): JSX.Element {
  const { isPrefix, maxFiles, replace } = terms
  const { done } = uploads.counts.value
  const items = uploads.items.value
  const isForMore = isPrefix ? done < maxFiles : items.length === 0 || (replace && done > 0)
  const add = useCallback(
    (files: readonly NamedFile[]) => {
      if (!isPrefix && files.length > 1) return void notifyError(t('linkOneFile'))
      if (!isPrefix) uploads.clear()
      uploads.add(files)
    },
    [uploads],
  )
  const isSent = items.length > 0 && done === items.length
  return (
    <section class="by-link-uploads" aria-label={t('uploads')}>
      <div role="status">
        {isSent && (
          <div class="sent">
            <Icon of={CircleCheck} size={28} />
            <p>
              <strong>{t('sent')}</strong> {plural('sentSafe', done)} {t('sentClose')}
            </p>
          </div>
        )}
      </div>
      {isForMore && <Chooser isOne={maxFiles === 1} onFiles={add} hasSome={items.length > 0} />}
      {items.length + unfinishedOf(uploads).length > 0 && (
        <div class="by-link-list">
          {items.length > 0 && !isSent && (
            <header class="uploads-head">
              <UploadSummary uploads={uploads} />
            </header>
          )}
          <ul>
            {items.map((item) => (
              <UploadRow key={item.id} item={item} queue={uploads} />
            ))}
            <UnfinishedRows uploads={uploads} />
          </ul>
        </div>
      )}
      {isForMore && <DropZone onFiles={add} />}
    </section>
  )
}

interface ChooserProps {
  readonly isOne: boolean
  /** Whether something has been chosen before. */
  readonly hasSome: boolean
  readonly onFiles: (files: readonly NamedFile[]) => void
}

function Chooser({ isOne, hasSome, onFiles }: ChooserProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  const take = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    onFiles(chosenFiles(currentTarget.files ?? []))
    // The same files may be chosen again.
    currentTarget.value = ''
  }
  return (
    <div class={hasSome ? 'chooser chooser-small' : 'chooser'}>
      <input ref={input} type="file" multiple={!isOne} hidden onChange={take} />
      {!hasSome && <Icon of={Upload} size={36} />}
      {!hasSome && <p>{t(isOne ? 'dropOne' : 'dropSome')}</p>}
      <button
        type="button"
        class={hasSome ? 'button' : 'button button-main'}
        onClick={() => input.current?.click()}
      >
        {hasSome && <Icon of={Upload} />}
        {t(isOne ? 'chooseOne' : hasSome ? 'chooseMore' : 'chooseSome')}
      </button>
    </div>
  )
}
