import { Download } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { fileOfPage, type LinkedFile } from '../links/link-terms.ts'
import { ExplainedError } from '../parts/explain-error.ts'
import { Icon } from '../parts/icon.tsx'
import { title } from '../parts/title.ts'
import { type ContentAccess, PreviewContent } from '../preview/preview-content.tsx'

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
