import type { FileDetails } from '@holdfast/client/browser'
import { readFile } from '../api/files.ts'
import { makeLink } from '../api/links.ts'
import { explainError } from '../app/explain-error.ts'
import { notifyError } from '../app/notices.ts'
import type { Session } from '../app/session.ts'
import { t } from '../i18n/language.ts'

/** What is downloaded without a link, or packed where the browser cannot write a stream, is in memory first. */
export const largestInMemory = 256 * 1024 * 1024

/** Has the browser save the files, one after the other. */
export async function download(session: Session, files: readonly FileDetails[]): Promise<void> {
  for (const file of files) {
    try {
      await downloadOne(session, file)
    } catch (error) {
      notifyError(`${t('downloadFailed', { name: file.name })} ${explainError(error)}`)
    }
  }
}

async function downloadOne({ connection, hasLinks }: Session, file: FileDetails): Promise<void> {
  const { name, size } = file
  if (hasLinks) {
    const link = await makeLink(connection, name, { inline: false })
    return save(link.url, name)
  }
  if (size > largestInMemory) {
    notifyError(t('tooLargeToDownload', { name }))
    return
  }
  await saveBlob(await readFile(connection, name), name)
}

/** Has the browser save what is in memory. */
export async function saveBlob(content: Blob, name: string): Promise<void> {
  // Whatever it is, it is saved and never shown.
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }))
  await save(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

async function save(url: string, name: string): Promise<void> {
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = name
  anchor.click()
  // Browsers drop a download that follows another too soon.
  await new Promise((resolve) => setTimeout(resolve, 400))
}
