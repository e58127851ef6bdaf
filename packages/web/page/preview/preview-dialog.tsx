import {
  ChevronLeft,
  ChevronRight,
  Download,
  ExternalLink,
  History,
  Link,
  Pencil,
  Trash2,
  Undo2,
} from 'lucide'
import type { JSX } from 'preact'
import { useState, useEffect } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { IconButton, Icon } from '../parts/icon.tsx'
import type { CustomerAccess, ViewedFile } from '../api/connection.ts'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { fileKind } from '../list/file-kind.ts'
import { type FileAction, type RowActions, KindIcon } from '../list/file-row.tsx'
import { readFile, makeLink } from '../api/requests.ts'
import { previewKind, shownText, harmlessType } from './preview-kind.ts'

interface PreviewDialogProps {
  readonly access: CustomerAccess
  /** The files of the list, in its order. */
  readonly shown: readonly ViewedFile[]
  readonly file: ViewedFile
  /** How the time of the file is written. Default: without words. */
  readonly moment?: 'deletedAt' | 'versionOf'
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly isInAddress?: boolean
  readonly onClose: () => void
}

/** A preview of one file; the arrow keys lead to its neighbours in the list. */
export function PreviewDialog({
  access,
  shown,
  file,
  moment,
  actions,
  isInAddress = false,
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
  const { link, rename, versions, restore } = actions
  const date = formatMoment(new Date(file.modified), language.value)
  /** Closes the preview first: what follows has a dialog of its own, or takes the file out of the list. */
  const afterClosing = (action: FileAction) => () => {
    onClose()
    action(file)
  }
  const facts = [
    formatSize(file.size, language.value),
    moment ? t(moment, { date }) : date,
    ...(file.expires === undefined ? [] : [expiryOf(file.expires)]),
  ].join(' · ')
  return (
    <Dialog
      title={name}
      class="preview"
      isInAddress={isInAddress}
      onClose={onClose}
      onKeyDown={onKeyDown}
    >
      <div class="preview-frame">
        <div class="preview-bar">
          <span class="preview-facts">{facts}</span>
          {shown.length > 1 && (
            <>
              <IconButton icon={ChevronLeft} label={t('previous')} onClick={() => go(-1)} />
              <IconButton icon={ChevronRight} label={t('next')} onClick={() => go(1)} />
            </>
          )}
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
              onClick={afterClosing(rename)}
            />
          )}
          {versions && (
            <IconButton
              icon={History}
              label={t('versionsOf', { name })}
              onClick={afterClosing(versions)}
            />
          )}
          {restore && (
            <IconButton
              icon={Undo2}
              label={t('restoreFile', { name })}
              onClick={afterClosing(restore)}
            />
          )}
          {actions.delete && (
            <IconButton
              icon={Trash2}
              label={t('deleteFile', { name })}
              onClick={afterClosing(actions.delete)}
            />
          )}
        </div>
        <div class="preview-stage">
          <Content access={linksTo(access, file)} file={file} />
        </div>
      </div>
    </Dialog>
  )
}

const expiryOf = (expires: string) =>
  t('expires', { date: formatMoment(new Date(expires), language.value) })

/** The access to a file: no link opens an earlier version. */
function linksTo(access: CustomerAccess, { version }: ViewedFile): CustomerAccess {
  return version === undefined ? access : { connection: access.connection, hasLinks: false }
}

interface ContentProps {
  readonly access: CustomerAccess
  readonly file: ViewedFile
}

function Content({ access, file }: ContentProps): JSX.Element {
  const kind = previewKind(file, access.hasLinks)
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

/** The beginning of a text, unchanged: HTML is shown as source, too. */
function TextPreview({ access, file }: ContentProps): JSX.Element {
  const [text, setText] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    setText(undefined)
    setError(undefined)
    const read = async () => {
      if (file.size === 0) return ''
      const blob = await readFile(access.connection, file, { limit: shownText, signal })
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

/**
 * Opens the browser's viewer in a tab that cannot access this page: it has no opener, and the server sends the file with
 * `Content-Security-Policy: sandbox`, which gives it an origin of its own.
 */
function PdfPreview({ access, file }: ContentProps): JSX.Element {
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
function useSource({ connection, hasLinks }: CustomerAccess, file: ViewedFile): Source {
  const [source, setSource] = useState<Source>(undefined)
  useEffect(() => {
    const ended = new AbortController()
    let blobUrl: string | undefined
    const open = async () => {
      if (hasLinks) {
        return (await makeLink(connection, file.name, { inline: true })).url
      }
      const content = await readFile(connection, file, { signal: ended.signal })
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
