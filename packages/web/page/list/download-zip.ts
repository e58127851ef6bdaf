import { signal } from '@preact/signals'
import { makeZip } from 'client-zip'
import type { Connection } from '../api/connection.ts'
import type { FileDetails } from '@holdfast/client/browser'
import { explainError } from '../app/explain-error.ts'
import { notify, notifyError } from '../app/notices.ts'
import { formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { archiveNames } from './archive-names.ts'
import { largestInMemory, saveBlob } from './download.ts'
import { askWhereToSave, canSaveStreams, type SaveStream } from './save-stream.ts'

/** Has the browser save the files as one ZIP, which is made while it is written. */
export async function downloadZip(
  connection: Connection,
  files: readonly FileDetails[],
): Promise<void> {
  const name = `holdfast ${new Date().toISOString().slice(0, 10)}.zip`
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (!canSaveStreams() && size > largestInMemory) {
    notifyError(t('zipTooLarge', { size: formatSize(largestInMemory, language.value) }))
    return
  }
  try {
    const save = canSaveStreams() ? await askWhereToSave(name) : inMemory(name)
    if (save) await pack(connection, files, save)
  } catch (error) {
    notifyError(explainError(error))
  }
}

async function pack({ client }: Connection, files: readonly FileDetails[], save: SaveStream) {
  const cancelled = new AbortController()
  const position = signal(0)
  const text = () => t('packing', { number: position.value, all: files.length })
  const action = { label: t('cancelZip'), run: () => cancelled.abort() }
  const dismiss = notify({ text, isError: false, action })
  const names = archiveNames(files.map(({ name }) => name))
  const entries = async function* () {
    for (const [index, file] of files.entries()) {
      position.value = index + 1
      const { body } = await client.download(file.name, { signal: cancelled.signal })
      yield { name: names[index] ?? '', lastModified: new Date(file.modified), input: body }
    }
  }
  try {
    await save(makeZip(entries()) as ReadableStream<Uint8Array<ArrayBuffer>>, cancelled.signal)
  } catch (error) {
    if (cancelled.signal.aborted) return
    const name = files[position.value - 1]?.name ?? ''
    notifyError(`${t('downloadFailed', { name })} ${explainError(error)}`)
  } finally {
    cancelled.abort()
    dismiss()
  }
}

function inMemory(name: string): SaveStream {
  return async (content, cancelled) => {
    const zip = await new Response(content).blob()
    if (!cancelled.aborted) await saveBlob(zip, name)
  }
}
