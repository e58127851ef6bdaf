import type { JSX, ComponentChildren } from 'preact'
import { useState, useEffect, useRef } from 'preact/hooks'
import { type FileDetails, type SignedLink, pageOfLink } from '@holdfast/client/browser'
import { Check, Copy } from 'lucide'
import { makeLink, type Connection } from '../api/connection.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { formatMoment } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import { Icon } from '../parts/icon.tsx'
import { afterTime } from '../browser/storage-and-timers.ts'
import { notify } from '../parts/notices.ts'

interface LinkDialogProps {
  readonly connection: Connection
  readonly file: FileDetails
  /** Left out if links cannot be ended. */
  readonly onEndLinks: (() => void) | undefined
  readonly onClose: () => void
}

/** What a link leads to: a page about the file, or the file, which the browser saves or shows. */
type Target = 'page' | 'save' | 'show'

const targets: readonly (readonly [StringKey, Target])[] = [
  ['linkPage', 'page'],
  ['linkSave', 'save'],
  ['linkShow', 'show'],
]

/** Makes a link to a file, with the expiry that the user chooses, and copies it. */
export function LinkDialog(props: LinkDialogProps): JSX.Element {
  const { connection, file, onEndLinks, onClose } = props
  const [expiresIn, setExpiresIn] = useState(86_400)
  const [target, setTarget] = useState<Target>('page')
  const [link, setLink] = useState<SignedLink>()
  const [error, setError] = useState<string>()
  const make = async (event: Event) => {
    event.preventDefault()
    try {
      const inline = target !== 'save'
      const { url, expires } = await makeLink(connection, file.name, { expiresIn, inline })
      setLink({ url: target === 'page' ? pageOfLink(url) : url, expires })
      setError(undefined)
    } catch (failure) {
      setError(explainError(failure))
    }
  }
  return (
    <Dialog title={t('linkFor', { name: file.name })} class="link" onClose={onClose}>
      <p>{t('linkLead')}</p>
      <form class="link-form" onSubmit={(event) => void make(event)}>
        <ExpiryChoice seconds={expiresIn} onChoose={setExpiresIn} />
        <Segments label="linkOpens" choices={targets} chosen={target} onChoose={setTarget} />
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
      <LinksNote onEndLinks={onEndLinks} />
    </Dialog>
  )
}

/** Says why there is no list of links, and offers to end all of them. */
export function LinksNote({ onEndLinks }: Pick<LinkDialogProps, 'onEndLinks'>): JSX.Element {
  return (
    <p class="links-note">
      {t('linksNote')}{' '}
      {onEndLinks && (
        <button type="button" class="text-button" onClick={onEndLinks}>
          {t('endLinks')}
        </button>
      )}
    </p>
  )
}

const expiries: readonly (readonly [StringKey, number])[] = [
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
]

interface ExpiryChoiceProps {
  readonly seconds: number
  readonly onChoose: (seconds: number) => void
}

/** The choice of when a link expires. */
export function ExpiryChoice({ seconds, onChoose }: ExpiryChoiceProps): JSX.Element {
  return <Segments label="linkEnds" choices={expiries} chosen={seconds} onChoose={onChoose} />
}

interface SegmentsProps<Value> {
  readonly label: StringKey
  readonly choices: readonly (readonly [StringKey, Value])[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
}

/** A choice of one among few. */
function Segments<Value>({ label, choices, chosen, onChoose }: SegmentsProps<Value>): JSX.Element {
  return (
    <fieldset class="segments">
      <legend>{t(label)}</legend>
      {choices.map(([text, each]) => (
        <label key={text}>
          <input
            type="radio"
            name={label}
            checked={chosen === each}
            onChange={() => onChoose(each)}
          />
          <span>{t(text)}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface MadeLinkProps {
  readonly link: SignedLink
  /** What it allows. */
  readonly children: ComponentChildren
}

/** Shows a new link, for copying. */
export function MadeLink({ link, children }: MadeLinkProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const container = useRef<HTMLDivElement>(null)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => container.current?.scrollIntoView({ block: 'nearest' }), [])
  const copy = async () => {
    field.current?.select()
    try {
      await navigator.clipboard.writeText(link.url)
      setCopied(true)
    } catch {
      // Browsers refuse without HTTPS. The link is selected, so that the user can copy it.
    }
  }
  return (
    <div ref={container} class="link-made">
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
      {children}
    </div>
  )
}

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
