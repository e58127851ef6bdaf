import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { FileDetails, SignedLink } from '@holdfast/client/browser'
import { makeLink } from '../api/links.ts'
import { Dialog } from '../app/dialog.tsx'
import { explainError } from '../app/explain-error.ts'
import type { Session } from '../app/session.ts'
import { formatMoment } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { EndChoice } from './end-choice.tsx'
import { MadeLink } from './made-link.tsx'

interface LinkDialogProps {
  readonly session: Session
  readonly file: FileDetails
  readonly onClose: () => void
}

/** Makes a link to a file, with an end that its user chooses, and copies it. */
export function LinkDialog({ session, file, onClose }: LinkDialogProps): JSX.Element {
  const [expiresIn, setExpiresIn] = useState(86_400)
  const [inline, setInline] = useState(false)
  const [link, setLink] = useState<SignedLink>()
  const [error, setError] = useState<string>()
  const make = async (event: Event) => {
    event.preventDefault()
    try {
      setLink(await makeLink(session.connection, file.name, { expiresIn, inline }))
      setError(undefined)
    } catch (failure) {
      setError(explainError(failure))
    }
  }
  return (
    <Dialog title={t('linkFor', { name: file.name })} class="link" onClose={onClose}>
      <p>{t('linkLead')}</p>
      <form class="link-form" onSubmit={(event) => void make(event)}>
        <EndChoice seconds={expiresIn} onChoose={setExpiresIn} />
        <label class="check">
          <input
            type="checkbox"
            checked={inline}
            onChange={({ currentTarget }) => setInline(currentTarget.checked)}
          />
          {t('linkInline')}
        </label>
        <button type="submit" class="button button-main">
          {t('createLink')}
        </button>
        <p role="alert" class="form-error">
          {error}
        </p>
      </form>
      {link && (
        <MadeLink key={link.url} link={link}>
          <p class="link-until">
            {t('linkUntil', { date: formatMoment(link.expires, language.value) })}
          </p>
        </MadeLink>
      )}
    </Dialog>
  )
}
