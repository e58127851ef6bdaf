import { Check, Copy } from 'lucide'
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { FileDetails, SignedLink } from '@holdfast/client/browser'
import { makeLink } from '../api/links.ts'
import { Dialog } from '../app/dialog.tsx'
import { explainError } from '../app/explain-error.ts'
import { Icon } from '../app/icon.tsx'
import type { Session } from '../app/session.ts'
import { formatMoment } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'

const ends: readonly (readonly [StringKey, number])[] = [
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
]

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
        <fieldset class="segments">
          <legend>{t('linkEnds')}</legend>
          {ends.map(([label, seconds]) => (
            <label key={label}>
              <input
                type="radio"
                name="ends"
                checked={expiresIn === seconds}
                onChange={() => setExpiresIn(seconds)}
              />
              <span>{t(label)}</span>
            </label>
          ))}
        </fieldset>
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
      {link && <MadeLink key={link.url} link={link} />}
    </Dialog>
  )
}

function MadeLink({ link }: { readonly link: SignedLink }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    field.current?.select()
    try {
      await navigator.clipboard.writeText(link.url)
      setCopied(true)
    } catch {
      // Without HTTPS browsers do not; it is selected, to be copied by hand.
    }
  }
  return (
    <div class="link-made">
      <div class="link-line">
        <input
          ref={field}
          readOnly
          value={link.url}
          aria-label={t('linkAddress')}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon of={isCopied ? Check : Copy} />
          <span aria-live="polite">{t(isCopied ? 'copied' : 'copyLink')}</span>
        </button>
      </div>
      <p class="link-until">
        {t('linkUntil', { date: formatMoment(link.expires, language.value) })}
      </p>
    </div>
  )
}
