import { Download, FileArchive, Inbox, RefreshCw, Trash2, X, Search } from 'lucide'
import type { JSX } from 'preact'
import type { FileDetails } from '@holdfast/client/browser'
import { useEffect, useRef } from 'preact/hooks'
import { explainError } from '../parts/explain-error.ts'
import { Icon, IconButton } from '../parts/icon.tsx'
import { formatCount, formatSize } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import { activeRow } from '../browser/keep-focus.ts'
import type { FileList } from './file-list-state.ts'

type FilesAction = (files: readonly FileDetails[]) => void

interface StatusLineProps {
  readonly files: FileList
  // What the login may not do, or the server cannot do, is `undefined`.
  readonly onDownload: FilesAction | undefined
  readonly onDownloadZip: FilesAction | undefined
  readonly onDelete: FilesAction | undefined
  readonly onAsk: (() => void) | undefined
}

/** The number of files; for selected files, the possible actions. */
export function StatusLine(props: StatusLineProps): JSX.Element {
  const { files, onDownload, onDownloadZip, onDelete, onAsk } = props
  const selected = files.selected.value
  const chosen = selected.size === 0 ? [] : files.all.value.filter(({ name }) => selected.has(name))
  if (chosen.length === 0) return <Count files={files} onAsk={onAsk} />
  const size = chosen.reduce((sum, file) => sum + file.size, 0)
  return (
    <div class="status status-selected" role="toolbar" aria-label={t('actionsFor', { name: '' })}>
      <IconButton
        icon={X}
        label={t('clearSelection')}
        onClick={() => (files.selected.value = new Set())}
      />
      <p role="status">
        {plural('selected', chosen.length)} · {formatSize(size, language.value)}
      </p>
      {onDownload && (
        <button
          type="button"
          class="button"
          aria-label={t('download')}
          onClick={() => onDownload(chosen)}
        >
          <Icon of={Download} />
          <span>{t('download')}</span>
        </button>
      )}
      {onDownloadZip && chosen.length > 1 && (
        <button
          type="button"
          class="button"
          aria-label={t('downloadZip')}
          onClick={() => onDownloadZip(chosen)}
        >
          <Icon of={FileArchive} />
          <span>{t('downloadZip')}</span>
        </button>
      )}
      {onDelete && (
        <button
          type="button"
          class="button button-danger"
          aria-label={t('delete')}
          onClick={() => onDelete(chosen)}
        >
          <Icon of={Trash2} />
          <span>{t('delete')}</span>
        </button>
      )}
    </div>
  )
}

function Count({ files, onAsk }: Pick<StatusLineProps, 'files' | 'onAsk'>): JSX.Element {
  const [shown, all] = [files.visible.value.length, files.all.value.length]
  const status = files.status.value
  const deletingCount = files.deletingCount.value
  const text =
    shown === all
      ? plural('fileCount', all)
      : t('filteredCount', {
          shown: formatCount(shown, language.value),
          all: plural('fileCount', all),
        })
  return (
    <div class="status">
      <p role="status">
        {all > 0 && text}
        {all > 0 && deletingCount > 0 && ` · ${plural('beingDeleted', deletingCount)}`}
        {status === 'loading' && all > 0 && ` · ${t('loadingMore')}`}
      </p>
      {typeof status === 'object' && all > 0 && (
        <p role="alert" class="status-problem">
          {t('listFailed')} {explainError(status.error)}
        </p>
      )}
      {onAsk && (
        <button type="button" class="button button-quiet" onClick={onAsk}>
          <Icon of={Inbox} />
          <span>{t('askForFiles')}</span>
        </button>
      )}
      <IconButton icon={RefreshCw} label={t('reload')} onClick={() => void files.load()} />
    </div>
  )
}

/** Filters while the user types. The key `/` moves the focus here from anywhere. */
export function FilterField({ files }: { readonly files: FileList }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const clear = () => {
    files.filter.value = ''
    field.current?.focus()
  }
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, select, textarea, dialog')
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div class="filter" role="search">
      <Icon of={Search} />
      <input
        ref={field}
        type="text"
        inputMode="search"
        value={files.filter.value}
        aria-label={t('filter')}
        placeholder={t('filter')}
        spellcheck={false}
        onInput={({ currentTarget }) => (files.filter.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') clear()
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          activeRow(document)?.focus()
        }}
      />
      {files.filter.value !== '' && (
        <IconButton icon={X} label={t('clearFilter')} onClick={clear} />
      )}
    </div>
  )
}
