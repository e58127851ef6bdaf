import { ChevronLeft, ChevronRight, Download, Link, Pencil, Trash2, ExternalLink } from 'lucide'
import type { JSX } from 'preact'
import { useState, useEffect } from 'preact/hooks'
import type { FileDetails } from '@holdfast/client/browser'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { IconButton, Icon } from '../parts/icon.tsx'
import type { CustomerAccess } from '../api/connection.ts'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { fileKind } from '../list/file-kind.ts'
import { type RowActions, KindIcon } from '../list/file-row.tsx'
import { readFile, makeLink } from '../api/requests.ts'
import { previewKind, type PreviewKind, shownText, harmlessType } from './preview-kind.ts'

interface PreviewDialogProps {
  readonly access: CustomerAccess
  /** The files of the list, in its order. */
  readonly shown: readonly FileDetails[]
  readonly file: FileDetails
  readonly actions: Omit<RowActions, 'select'>
  readonly onClose: () => void
}

/** A preview of one file; the arrow keys lead to its neighbours in the list. */
export function PreviewDialog({
  access,
  shown,
  file,
  actions,
  onClose,
}: PreviewDialogProps): JSX.Element {
  const index = shown.findIndex(({ name }) => name === file.name)
  const go = (step: number) => {
    const other = shown[index + step]
    if (other) actions.open?.(other)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isOwn = (event.target as HTMLElement).closest('video, audio, pre')
    if (isOwn || event.ctrlKey || event.metaKey || event.altKey) return
    const forward = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') go(event.key === forward ? 1 : -1)
  }
  const { name } = file
  const { link, rename } = actions
  const facts = [
    formatSize(file.size, language.value),
    formatMoment(new Date(file.modified), language.value),
    ...(file.expires === undefined ? [] : [expiryOf(file.expires)]),
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
            onClick={() => actions.download?.(file)}
          />
          {link && <IconButton icon={Link} label={t('makeLink')} onClick={() => link(file)} />}
          {rename && (
            <IconButton
              icon={Pencil}
              label={t('renameFile', { name })}
              onClick={() => {
                onClose()
                rename(file)
              }}
            />
          )}
          {actions.delete && (
            <IconButton
              icon={Trash2}
              label={t('deleteFile', { name })}
              onClick={() => {
                onClose()
                actions.delete?.(file)
              }}
            />
          )}
        </div>
        <div class="preview-stage">
          <Content access={access} file={file} kind={previewKind(file, access.hasLinks)} />
        </div>
      </div>
    </Dialog>
  )
}

const expiryOf = (expires: string) =>
  t('expires', { date: formatMoment(new Date(expires), language.value) })

interface ContentProps {
  readonly access: CustomerAccess
  readonly file: FileDetails
  readonly kind: PreviewKind
}

function Content({ access, file, kind }: ContentProps): JSX.Element {
  if (kind === 'text') return <TextPreview access={access} file={file} />
  if (kind === 'none' || kind === 'too-large') {
    return (
      <div class="preview-none">
        <KindIcon kind={fileKind(file)} />
        <p>{t(kind === 'none' ? 'noPreview' : 'tooLargeToPreview')}</p>
      </div>
    )
  }
  if (kind === 'pdf') return <PdfPreview access={access} file={file} />
  return <Media access={access} file={file} kind={kind} />
}

interface MediaProps extends ContentProps {
  readonly kind: 'image' | 'video' | 'audio'
}

function Media({ access, file, kind }: MediaProps): JSX.Element {
  const source = useSource(access, file)
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

interface TextPreviewProps {
  readonly access: CustomerAccess
  readonly file: FileDetails
}

/** The beginning of a text, unchanged: HTML is shown as source, too. */
function TextPreview({ access, file }: TextPreviewProps): JSX.Element {
  const [text, setText] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    setText(undefined)
    setError(undefined)
    const read = async () => {
      if (file.size === 0) return ''
      const blob = await readFile(access.connection, file.name, { limit: shownText, signal })
      return blob.text()
    }
    read().then(
      (content) => !signal.aborted && setText(content),
      (failure: unknown) => !signal.aborted && setError(failure),
    )
    return () => ended.abort()
  }, [file.name, file.etag])
  if (error !== undefined) return <p class="preview-note">{explainError(error)}</p>
  if (text === undefined) return <p class="preview-note">{t('loading')}</p>
  return (
    <div class="preview-text">
      <pre tabIndex={0} aria-label={file.name} dir="auto">
        {text}
      </pre>
      {file.size > shownText && (
        <p class="preview-note">
          {t('previewCut', { size: formatSize(shownText, language.value) })}
        </p>
      )}
    </div>
  )
}

interface PdfPreviewProps {
  readonly access: CustomerAccess
  readonly file: FileDetails
}

/**
 * Opens the browser's viewer in a tab that cannot access this page: it has no opener, and the server sends the file with
 * `Content-Security-Policy: sandbox`, which gives it an origin of its own.
 */
function PdfPreview({ access, file }: PdfPreviewProps): JSX.Element {
  const source = useSource(access, file)
  return (
    <div class="preview-none">
      <KindIcon kind="pdf" />
      <p>{t('pdfHint')}</p>
      {source !== undefined && 'error' in source && <p>{explainError(source.error)}</p>}
      {source !== undefined && 'url' in source && (
        <a class="button button-main" href={source.url} target="_blank" rel="noopener noreferrer">
          <Icon of={ExternalLink} />
          {t('openInTab')}
        </a>
      )}
    </div>
  )
}

type Source = { readonly url: string } | { readonly error: unknown } | undefined

/** The source for `<img>` and similar elements: a link, or a blob in memory. `undefined` until it is known. */
function useSource({ connection, hasLinks }: CustomerAccess, file: FileDetails): Source {
  const [source, setSource] = useState<Source>(undefined)
  useEffect(() => {
    const ended = new AbortController()
    let blobUrl: string | undefined
    const open = async () => {
      if (hasLinks) {
        return (await makeLink(connection, file.name, { inline: true })).url
      }
      const content = await readFile(connection, file.name, { signal: ended.signal })
      blobUrl = URL.createObjectURL(new Blob([content], { type: harmlessType(file.type) }))
      return blobUrl
    }
    setSource(undefined)
    open().then(
      (url) => {
        if (!ended.signal.aborted) setSource({ url })
        else if (blobUrl !== undefined) URL.revokeObjectURL(blobUrl)
      },
      (error: unknown) => {
        if (!ended.signal.aborted) setSource({ error })
      },
    )
    return () => {
      ended.abort()
      if (blobUrl !== undefined) URL.revokeObjectURL(blobUrl)
    }
  }, [file.name, file.etag])
  return source
}
