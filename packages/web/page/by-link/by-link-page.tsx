import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { Link2Off } from 'lucide'
import { Icon } from '../app/icon.tsx'
import { Logo } from '../app/logo.tsx'
import { NoticeList } from '../app/notice-list.tsx'
import { Preferences } from '../app/preferences.tsx'
import '../app/theme.ts'
import { t } from '../i18n/language.ts'
import type { LinkState, LinkTerms, Refused } from './link-terms.ts'
import { AllowedList } from './allowed-list.tsx'
import { createLinkUploads } from './create-link-uploads.ts'
import { LinkUploadsView } from './link-uploads-view.tsx'

/** What a stranger sees who opens a link to upload. */
export function ByLinkPage({ terms }: { readonly terms: LinkState }): JSX.Element {
  return (
    <>
      <main class="by-link" tabIndex={-1}>
        <div class="by-link-card">
          <p class="by-link-brand">
            <Logo size={24} />
            <span>holdfast</span>
          </p>
          {typeof terms === 'string' ? (
            <Notice title={t(refusals[terms].title)} text={t(refusals[terms].text)} />
          ) : terms.isUsedUp ? (
            <Notice title={t('linkUsedUpTitle')} text={usedUp(terms)} />
          ) : (
            <UploadsByLink terms={terms} />
          )}
        </div>
        <footer class="sign-in-foot">
          <Preferences />
        </footer>
      </main>
      <NoticeList />
    </>
  )
}

/** Titles and texts, by why the link does nothing. */
const refusals = {
  refused: { title: 'linkRefusedTitle', text: 'linkRefused' },
  busy: { title: 'linkBusyTitle', text: 'linkBusy' },
  missing: { title: 'linkMissingTitle', text: 'linkMissing' },
} as const satisfies Record<Refused, object>

function usedUp({ isPrefix, customer }: LinkTerms): string {
  return isPrefix ? t('linkFull', { customer }) : t('linkUsed')
}

/** In place of all that a link is for. */
function Notice({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div class="by-link-refused">
      <Icon of={Link2Off} size={40} />
      <Title text={title} />
      <p>{text}</p>
    </div>
  )
}

function UploadsByLink({ terms }: { readonly terms: LinkTerms }): JSX.Element {
  const uploads = useMemo(() => createLinkUploads(terms, new URL(location.href)), [terms])
  const { customer, maxFiles } = terms
  return (
    <>
      <header class="by-link-head">
        <Title text={t(maxFiles === 1 ? 'sendOneTo' : 'sendTo', { customer })} />
        <p>{t('sendLead', { customer })}</p>
      </header>
      <AllowedList terms={terms} />
      <LinkUploadsView terms={terms} uploads={uploads} />
    </>
  )
}

/** The heading, which is the document's title, too. */
function Title({ text }: { readonly text: string }): JSX.Element {
  useEffect(() => {
    document.title = `${text} – holdfast`
  }, [text])
  return <h1>{text}</h1>
}
