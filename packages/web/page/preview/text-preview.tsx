import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readFile } from '../api/files.ts'
import type { FileDetails } from '@holdfast/client/browser'
import { explainError } from '../app/explain-error.ts'
import type { Session } from '../app/session.ts'
import { formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { shownText } from './preview-kind.ts'

interface TextPreviewProps {
  readonly session: Session
  readonly file: FileDetails
}

/** The beginning of a text, as it is: HTML too is shown by its source. */
export function TextPreview({ session, file }: TextPreviewProps): JSX.Element {
  const [text, setText] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    setText(undefined)
    setError(undefined)
    const read = async () => {
      if (file.size === 0) return ''
      const blob = await readFile(session.connection, file.name, { limit: shownText, signal })
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
