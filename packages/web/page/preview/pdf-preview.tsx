import { ExternalLink } from 'lucide'
import type { JSX } from 'preact'
import type { FileDetails } from '@holdfast/client/browser'
import { explainError } from '../app/explain-error.ts'
import { Icon } from '../app/icon.tsx'
import type { Session } from '../app/session.ts'
import { t } from '../i18n/language.ts'
import { KindIcon } from '../list/kind-icon.tsx'
import { useSource } from './use-source.ts'

interface PdfPreviewProps {
  readonly session: Session
  readonly file: FileDetails
}

/**
 * Leads to the browser's viewer, in a tab that cannot reach this page: it has no opener, and the server sends the file
 * with `Content-Security-Policy: sandbox`, which gives it an origin of its own.
 */
export function PdfPreview({ session, file }: PdfPreviewProps): JSX.Element {
  const source = useSource(session, file)
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
