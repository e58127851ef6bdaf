import type { SignedLink } from '@holdfast/client/browser'
import { Check, Copy } from 'lucide'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../app/icon.tsx'
import { t } from '../i18n/language.ts'

interface MadeLinkProps {
  readonly link: SignedLink
  /** What it allows. */
  readonly children: ComponentChildren
}

/** A link that was made, to be copied. */
export function MadeLink({ link, children }: MadeLinkProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  const place = useRef<HTMLDivElement>(null)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), [])
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
    <div ref={place} class="link-made">
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
