import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { Link2Off } from 'lucide'
import { Icon } from '../app/icon.tsx'
import { Logo } from '../app/logo.tsx'
import { NoticeList } from '../app/notice-list.tsx'
import { Preferences } from '../app/preferences.tsx'
import '../app/theme.ts'
import { t } from '../i18n/language.ts'
import type { LinkState, LinkTerms } from './link-terms.ts'
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
            <Refusal isBusy={terms === 'busy'} />
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

function Refusal({ isBusy }: { readonly isBusy: boolean }): JSX.Element {
  return (
    <div class="by-link-refused">
      <Icon of={Link2Off} size={40} />
      <Title text={t(isBusy ? 'linkBusyTitle' : 'linkRefusedTitle')} />
      <p>{t(isBusy ? 'linkBusy' : 'linkRefused')}</p>
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
