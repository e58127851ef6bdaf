import type { JSX } from 'preact'
import { useMemo, useCallback, useRef, useEffect } from 'preact/hooks'
import { Link2Off, CircleCheck, Upload, Download } from 'lucide'
import { createLinkClient, nameFromPath } from '@holdfast/client/browser'
import { Icon, Logo } from '../parts/icon.tsx'
import { NoticeList } from '../parts/notice-list.tsx'
import { Preferences } from '../parts/preferences.tsx'
import { t, plural, language } from '../i18n/language.ts'
import {
  type LinkState,
  type LinkTerms,
  type LinkRefusal,
  fileOfPage,
  type LinkedFile,
} from '../links/link-terms.ts'
import { AllowedList } from '../links/upload-link-dialog.tsx'
import { openStorage } from '../browser/storage-and-timers.ts'
import { type NamedFile, chosenFiles, DropZone } from '../uploads/choose-files.tsx'
import { createRateMeter } from '../uploads/upload-item.ts'
import { runUploads, type Uploads } from '../uploads/create-uploads.ts'
import { openUnfinishedUploads } from '../uploads/unfinished-uploads.ts'
import { notifyError } from '../parts/notices.ts'
import { UnfinishedRows, unfinishedOf, UploadRow, UploadSummary } from '../uploads/upload-panel.tsx'
import { createLinkTransport } from './link-transport.ts'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { ExplainedError } from '../parts/explain-error.ts'
import { title } from '../parts/document.ts'
import { type ContentAccess, PreviewContent } from '../preview/preview-content.tsx'

/** The page for strangers who open a link: to upload, or to a file. */
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
          ) : 'file' in terms ? (
            <LinkedFileView linked={terms} />
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

/** Titles and texts for the reasons why a link does not work. */
const refusals = {
  refused: { title: 'linkRefusedTitle', text: 'linkRefused' },
  tooMany: { title: 'linkTooManyTitle', text: 'linkTooMany' },
  busy: { title: 'linkBusyTitle', text: 'linkBusy' },
  missing: { title: 'linkMissingTitle', text: 'linkMissing' },
} as const satisfies Record<LinkRefusal, object>

function usedUp({ isPrefix, customer }: LinkTerms): string {
  return isPrefix ? t('linkFull', { customer }) : t('linkUsed')
}

/** Shown instead of the upload form. */
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

/** The uploads by a link. They survive a reload, until the tab is closed. */
function createLinkUploads(terms: LinkTerms, address: URL): Uploads {
  const { isPrefix, name } = terms
  const client = createLinkClient({ link: address, retries: 0 })
  const storage = openStorage(() => sessionStorage)
  // An upload that one link has begun can be continued only by the same link.
  const unfinished = openUnfinishedUploads(address.pathname + address.search, storage)
  const rate = createRateMeter()
  const uploads = runUploads({
    transport: createLinkTransport(client, terms, { unfinished, rate }),
    unfinished,
    rate,
    onStored() {},
    onIdle() {},
    // As many as the server accepts at a time.
    ...(!isPrefix && { concurrency: 1 }),
  })
  return {
    ...uploads,
    add(files) {
      const named = (file: NamedFile) => (isPrefix ? nameFromPath(name + file.name) : name)
      uploads.add(files.map((file) => ({ file: file.file, name: named(file) })))
    },
  }
}

interface LinkUploadsViewProps {
  readonly terms: LinkTerms
  readonly uploads: Uploads
}

/** Where the user chooses or drops files, and the state of their uploads. */
function LinkUploadsView({ terms, uploads }: LinkUploadsViewProps): JSX.Element {
  const { isPrefix, maxFiles, replace } = terms
  const { done } = uploads.counts.value
  const items = uploads.items.value
  const isForMore = isPrefix ? done < maxFiles : items.length === 0 || (replace && done > 0)
  const add = useCallback(
    (files: readonly NamedFile[]) => {
      if (!isPrefix && files.length > 1) return void notifyError(t('linkOneFile'))
      if (!isPrefix) uploads.clear()
      uploads.add(files)
    },
    [uploads],
  )
  const isSent = items.length > 0 && done === items.length
  return (
    <section class="by-link-uploads" aria-label={t('uploads')}>
      <div role="status">
        {isSent && (
          <div class="sent">
            <Icon of={CircleCheck} size={28} />
            <p>
              <strong>{t('sent')}</strong> {plural('sentSafe', done)} {t('sentClose')}
            </p>
          </div>
        )}
      </div>
      {isForMore && <Chooser isOne={maxFiles === 1} onFiles={add} hasSome={items.length > 0} />}
      {items.length + unfinishedOf(uploads).length > 0 && (
        <div class="by-link-list">
          {items.length > 0 && !isSent && (
            <header class="uploads-head">
              <UploadSummary uploads={uploads} />
            </header>
          )}
          <ul>
            {items.map((item) => (
              <UploadRow key={item.id} item={item} queue={uploads} />
            ))}
            <UnfinishedRows uploads={uploads} />
          </ul>
        </div>
      )}
      {isForMore && <DropZone onFiles={add} />}
    </section>
  )
}

interface ChooserProps {
  readonly isOne: boolean
  /** Whether the user has already chosen files. */
  readonly hasSome: boolean
  readonly onFiles: (files: readonly NamedFile[]) => void
}

function Chooser({ isOne, hasSome, onFiles }: ChooserProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  const take = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    onFiles(chosenFiles(currentTarget.files ?? []))
    // Cleared, so that the same files can be chosen again.
    currentTarget.value = ''
  }
  return (
    <div class={hasSome ? 'chooser chooser-small' : 'chooser'}>
      <input ref={input} type="file" multiple={!isOne} hidden onChange={take} />
      {!hasSome && <Icon of={Upload} size={36} />}
      {!hasSome && <p>{t(isOne ? 'dropOne' : 'dropSome')}</p>}
      <button
        type="button"
        class={hasSome ? 'button' : 'button button-main'}
        onClick={() => input.current?.click()}
      >
        {hasSome && <Icon of={Upload} />}
        {t(isOne ? 'chooseOne' : hasSome ? 'chooseMore' : 'chooseSome')}
      </button>
    </div>
  )
}

/** A file to which a link leads: its name, size and preview, and a button that saves it. */
export function LinkedFileView({ linked }: { readonly linked: LinkedFile }): JSX.Element {
  const { customer, file } = linked
  const address = fileOfPage(location.href)
  const access = useMemo<ContentAccess>(
    () => ({ file, read: readingFrom(address), link: async () => address }),
    [file, address],
  )
  const modified = formatMoment(new Date(file.modified), language.value)
  return (
    <>
      <header class="by-link-head">
        <Title text={file.name} />
        <p>{t('linkedFrom', { customer })}</p>
        <p class="linked-facts">
          {formatSize(file.size, language.value)} · {modified}
        </p>
      </header>
      <div class="preview-stage linked-stage">
        <PreviewContent access={access} />
      </div>
      <a class="button button-main linked-save" href={address} download={file.name}>
        <Icon of={Download} />
        {t('download')}
      </a>
    </>
  )
}

/** Reads the beginning of the file at `address`. */
function readingFrom(address: string): ContentAccess['read'] {
  return async ({ limit, signal }) => {
    const headers = limit === undefined ? {} : { Range: `bytes=0-${limit - 1}` }
    const response = await fetch(address, { headers, signal, credentials: 'omit' })
    if (!response.ok) throw new ExplainedError('previewFailed')
    return response.blob()
  }
}

/** The heading, also used as the title of the document. */
export function Title({ text }: { readonly text: string }): JSX.Element {
  useEffect(() => {
    title.value = `${text} – holdfast`
  }, [text])
  return <h1>{text}</h1>
}
