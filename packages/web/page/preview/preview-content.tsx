import { Code, ExternalLink } from 'lucide'
import type { JSX } from 'preact'
import { useState, useEffect } from 'preact/hooks'
import type { ViewedFile } from '../api/connection.ts'
import { formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { fileKind, previewKind, shownText, harmlessType } from '../list/file-kind.ts'
import { KindIcon } from '../list/file-row.tsx'
import { explainError } from '../parts/explain-error.ts'
import { Icon } from '../parts/icon.tsx'
/** A file, and how its content is read. */
export interface ContentAccess {
  readonly file: ViewedFile
  /** Reads the content, or its first `limit` bytes. */
  readonly read: (options: {
    readonly limit?: number
    readonly signal: AbortSignal
  }) => Promise<Blob>
  /** Resolves with an address that needs no password; `undefined` if there is none. */
  readonly link: (() => Promise<string>) | undefined
}

interface ContentProps {
  readonly access: ContentAccess
}

/** The content of a file, as far as a browser may show it. */
export function PreviewContent({ access }: ContentProps): JSX.Element {
  const { file } = access
  const kind = previewKind(file, access.link !== undefined)
  if (kind === 'text') return <TextPreview access={access} />
  if (kind === 'markdown' || kind === 'table') {
    return <TextPreview key={file.name} access={access} as={kind} />
  }
  if (kind === 'none' || kind === 'too-large') {
    return (
      <div class="preview-none">
        <KindIcon kind={fileKind(file)} />
        <p>{t(kind === 'none' ? 'noPreview' : 'tooLargeToPreview')}</p>
      </div>
    )
  }
  if (kind === 'pdf') return <PdfPreview access={access} />
  return <Media access={access} kind={kind} />
}

interface MediaProps extends ContentProps {
  readonly kind: 'image' | 'video' | 'audio'
}

function Media({ access, kind }: MediaProps): JSX.Element {
  const { file } = access
  const source = useSource(access)
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

/** Loaded when they are first needed: most visits need none of them. */
const formats = {
  markdown: async () => (await import('./markdown.tsx')).Markdown,
  table: async () => (await import('./table.tsx')).Table,
}

interface TextPreviewProps extends ContentProps {
  /** Default: as it is. */
  readonly as?: keyof typeof formats
}

/** The beginning of a text, unchanged, HTML too; Markdown and tables also in their form, for which HTML is text as well. */
function TextPreview({ access, as }: TextPreviewProps): JSX.Element {
  const [isSource, setSource] = useState(as === undefined)
  const [Format, setFormat] = useState<(props: { readonly text: string }) => JSX.Element>()
  useEffect(() => {
    if (as === undefined) return
    formats[as]().then(
      (loaded) => setFormat(() => loaded),
      () => setSource(true),
    )
  }, [as])
  const { file } = access
  const [text, setText] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    setText(undefined)
    setError(undefined)
    const read = async () => {
      if (file.size === 0) return ''
      const blob = await access.read({ limit: shownText, signal })
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
  if (!isSource && !Format) return <p class="preview-note">{t('loading')}</p>
  return (
    <div class="preview-text">
      {as && (
        <button
          type="button"
          class="button preview-source"
          aria-pressed={isSource}
          onClick={() => setSource(!isSource)}
        >
          <Icon of={Code} />
          {t('showSource')}
        </button>
      )}
      {Format && !isSource ? (
        <div class="preview-formatted" tabIndex={0} role="region" aria-label={file.name}>
          <Format text={text} />
        </div>
      ) : (
        <pre tabIndex={0} aria-label={file.name} dir="auto">
          {text}
        </pre>
      )}
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
function PdfPreview({ access }: ContentProps): JSX.Element {
  const source = useSource(access)
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
function useSource({ file, read, link }: ContentAccess): Source {
  const [source, setSource] = useState<Source>(undefined)
  useEffect(() => {
    const ended = new AbortController()
    let blobUrl: string | undefined
    const open = async () => {
      if (link) return link()
      const content = await read({ signal: ended.signal })
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
