import { ChevronLeft, ChevronRight, Download, Link, Trash2 } from 'lucide'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { FileDetails } from '@holdfast/client/browser'
import { Dialog } from '../app/dialog.tsx'
import { explainError } from '../app/explain-error.ts'
import { IconButton } from '../app/icon-button.tsx'
import type { Session } from '../app/session.ts'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { fileKind } from '../list/file-kind.ts'
import type { RowActions } from '../list/file-row.tsx'
import { KindIcon } from '../list/kind-icon.tsx'
import { previewKind, type PreviewKind } from './preview-kind.ts'
import { PdfPreview } from './pdf-preview.tsx'
import { TextPreview } from './text-preview.tsx'
import { useSource } from './use-source.ts'

interface PreviewDialogProps {
  readonly session: Session
  readonly file: FileDetails
  readonly actions: Omit<RowActions, 'select'>
  readonly onClose: () => void
}

/** One file, large; the arrow keys lead to its neighbours in the list. */
export function PreviewDialog({
  session,
  file,
  actions,
  onClose,
}: PreviewDialogProps): JSX.Element {
  const shown = session.files.visible.value
  const index = shown.findIndex(({ name }) => name === file.name)
  const go = (step: number) => {
    const other = shown[index + step]
    if (other) actions.open(other)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isOwn = (event.target as HTMLElement).closest('video, audio, pre')
    if (isOwn || event.ctrlKey || event.metaKey || event.altKey) return
    const forward = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') go(event.key === forward ? 1 : -1)
  }
  const { name } = file
  const { link } = actions
  const facts = [
    formatSize(file.size, language.value),
    formatMoment(new Date(file.modified), language.value),
  ].join(' · ')
  return (
    <Dialog title={name} class="preview" onClose={onClose} onKeyDown={onKeyDown}>
      <div class="preview-frame">
        <div class="preview-bar">
          <span class="preview-facts">{facts}</span>
          <IconButton icon={ChevronLeft} label={t('previous')} onClick={() => go(-1)} />
          <IconButton icon={ChevronRight} label={t('next')} onClick={() => go(1)} />
          <IconButton
            icon={Download}
            label={t('downloadFile', { name })}
            onClick={() => actions.download(file)}
          />
          {link && <IconButton icon={Link} label={t('makeLink')} onClick={() => link(file)} />}
          <IconButton
            icon={Trash2}
            label={t('deleteFile', { name })}
            onClick={() => {
              onClose()
              actions.delete(file)
            }}
          />
        </div>
        <div class="preview-stage">
          <Content session={session} file={file} kind={previewKind(file, session.hasLinks)} />
        </div>
      </div>
    </Dialog>
  )
}

interface ContentProps {
  readonly session: Session
  readonly file: FileDetails
  readonly kind: PreviewKind
}

function Content({ session, file, kind }: ContentProps): JSX.Element {
  if (kind === 'text') return <TextPreview session={session} file={file} />
  if (kind === 'none' || kind === 'too-large') {
    return (
      <div class="preview-none">
        <KindIcon kind={fileKind(file)} />
        <p>{t(kind === 'none' ? 'noPreview' : 'tooLargeToPreview')}</p>
      </div>
    )
  }
  if (kind === 'pdf') return <PdfPreview session={session} file={file} />
  return <Media session={session} file={file} kind={kind} />
}

interface MediaProps extends ContentProps {
  readonly kind: 'image' | 'video' | 'audio'
}

function Media({ session, file, kind }: MediaProps): JSX.Element {
  const source = useSource(session, file)
  const [broken, setBroken] = useState<string>()
  if (source === undefined) return <p class="preview-note">{t('loading')}</p>
  if ('error' in source) return <p class="preview-note">{explainError(source.error)}</p>
  const { url } = source
  if (broken === url) return <p class="preview-note">{t('previewFailed')}</p>
  const onError = () => setBroken(url)
  if (kind === 'image') return <img src={url} alt={file.name} onError={onError} />
  if (kind === 'video') return <video src={url} controls aria-label={file.name} onError={onError} />
  return <audio src={url} controls aria-label={file.name} onError={onError} />
}
