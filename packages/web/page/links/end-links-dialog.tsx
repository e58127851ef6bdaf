import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Connection } from '../api/connection.ts'
import { afterTime } from '../browser/after-time.ts'
import { t } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { notify } from '../parts/notices.ts'

/** How long the notice stays, in milliseconds. */
const shownMs = 5_000

interface EndLinksDialogProps {
  readonly connection: Connection
  readonly onClose: () => void
}

/** Asks whether to end all links that the customer has made. */
export function EndLinksDialog({ connection, onClose }: EndLinksDialogProps): JSX.Element {
  const [error, setError] = useState<string>()
  const end = async () => {
    try {
      await connection.client.revokeLinks()
      onClose()
      afterTime(shownMs, notify({ text: t('linksEnded'), isError: false }))
    } catch (failure) {
      setError(explainError(failure))
    }
  }
  return (
    <Dialog title={t('endLinksAsk')} class="end-links" onClose={onClose}>
      <p>{t('endLinksLead')}</p>
      <p role="alert" class="form-error">
        {error}
      </p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {t('keepLinks')}
        </button>
        <button type="button" class="button button-danger" onClick={() => void end()}>
          {t('endLinks')}
        </button>
      </div>
    </Dialog>
  )
}
