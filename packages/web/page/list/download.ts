import { signal } from '@preact/signals'
import { makeZip } from 'client-zip'
import type { Download } from '@holdfast/client/browser'
import {
  readFile,
  makeLink,
  type Connection,
  type CustomerAccess,
  type ViewedFile,
} from '../api/connection.ts'
import { explainError } from '../parts/explain-error.ts'
import { notifyError, notify } from '../parts/notices.ts'
import { t, language } from '../i18n/language.ts'
import { formatSize, shortName } from '../i18n/format.ts'
import { archiveNames, harmless } from './archive-names.ts'

/** The most bytes held in memory: files downloaded without a link, or packed by a browser that cannot write streams. */
const largestInMemory = 256 * 1024 * 1024

/** Lets the browser save the files, one after the other, until the customer signs out. */
export async function download(
  access: CustomerAccess,
  files: readonly ViewedFile[],
): Promise<void> {
  for (const file of files) {
    try {
      await downloadOne(access, file)
    } catch (error) {
      // The next user must not see the name.
      if (access.ended.aborted) return
      notifyError(`${t('downloadFailed', { name: shortName(file.name) })} ${explainError(error)}`)
    }
  }
}

async function downloadOne(
  { connection, hasLinks, ended }: CustomerAccess,
  file: ViewedFile,
): Promise<void> {
  ended.throwIfAborted()
  const { name, size, version } = file
  // No link opens an earlier version.
  if (hasLinks && version === undefined) {
    const link = await makeLink(connection, name, { inline: false })
    ended.throwIfAborted()
    return save(link.url, name)
  }
  if (size > largestInMemory) {
    notifyError(
      t(version === undefined ? 'tooLargeToDownload' : 'versionTooLarge', {
        name: shortName(name),
      }),
    )
    return
  }
  await saveBlob(await readFile(connection, file, { signal: ended }), name)
}

/** Lets the browser save content from memory. */
async function saveBlob(content: Blob, name: string): Promise<void> {
  // This type makes the browser save any content and never show it.
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }))
  await save(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

async function save(url: string, name: string): Promise<void> {
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = name
  anchor.click()
  // Browsers drop a download that follows another one too soon.
  await new Promise((resolve) => setTimeout(resolve, 400))
}

interface ZipOptions {
  /** The prefix of the folder whose folders the ZIP has; without it, it has none. */
  readonly base?: string | undefined
  /** What the ZIP is called. Default: the day. */
  readonly title?: string | undefined
}

/** Lets the browser save the files as one ZIP, which is made while it is written. It is cancelled when the customer signs out. */
export async function downloadZip(
  access: CustomerAccess,
  files: readonly ViewedFile[],
  { base, title = `holdfast ${new Date().toISOString().slice(0, 10)}` }: ZipOptions = {},
): Promise<void> {
  const name = `${harmless(title)}.zip`
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (!canSaveStreams() && size > largestInMemory) {
    notifyError(t('zipTooLarge', { size: formatSize(largestInMemory, language.value) }))
    return
  }
  try {
    const save = canSaveStreams() ? await askWhereToSave(name) : inMemory(name)
    const names = archiveNames(
      files.map((file) => file.name),
      base,
    )
    if (save && !access.ended.aborted) await pack(access, files, names, save)
  } catch (error) {
    if (!access.ended.aborted) notifyError(explainError(error))
  }
}

async function pack(
  { connection: { downloads }, ended }: CustomerAccess,
  files: readonly ViewedFile[],
  names: readonly string[],
  save: SaveStream,
) {
  const cancelled = new AbortController()
  const stopped = AbortSignal.any([cancelled.signal, ended])
  const position = signal(0)
  const text = () => t('packing', { number: position.value, all: files.length })
  const action = { label: t('cancelZip'), run: () => cancelled.abort() }
  const dismiss = notify({ text, isError: false, action })
  const entries = async function* () {
    for await (const start of downloadsOf(downloads, files, stopped)) {
      const [file, name] = [files[position.value], names[position.value]]
      if (file === undefined || name === undefined) return
      position.value++
      const { body } = await start()
      yield { name, lastModified: new Date(file.modified), input: body }
    }
  }
  try {
    await save(makeZip(entries()) as ReadableStream<Uint8Array<ArrayBuffer>>, stopped)
  } catch (error) {
    if (stopped.aborted) return
    const name = files[position.value - 1]?.name ?? ''
    notifyError(`${t('downloadFailed', { name: shortName(name) })} ${explainError(error)}`)
  } finally {
    cancelled.abort()
    dismiss()
  }
}

/** Starts the downloads, in the order of the files. Small files share requests; earlier versions cannot. */
async function* downloadsOf(
  downloads: Connection['downloads'],
  files: readonly ViewedFile[],
  signal: AbortSignal,
): AsyncGenerator<() => Promise<Download>, void> {
  if (files.some(({ version }) => version !== undefined)) {
    for (const { name, version } of files) yield () => downloads.download(name, { version, signal })
    return
  }
  const names = files.map(({ name }) => name)
  for await (const { download } of downloads.downloadMany(names, { signal })) yield () => download()
}

function inMemory(name: string): SaveStream {
  return async (content, cancelled) => {
    const zip = await new Response(content).blob()
    if (!cancelled.aborted) await saveBlob(zip, name)
  }
}

/** Exists in browsers that can write a file as it arrives: Chromium's, over HTTPS or from this machine. */
interface SavingWindow {
  showSaveFilePicker?: (options: {
    readonly suggestedName: string
    readonly types: readonly { readonly accept: Readonly<Record<string, readonly string[]>> }[]
  }) => Promise<FileSystemFileHandle>
}

/** Writes a stream to the file that the user has chosen. */
type SaveStream = (
  content: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
) => Promise<void>

/** Whether the browser can write to the disk what does not fit into memory. */
const canSaveStreams = () => 'showSaveFilePicker' in window

/**
 * Asks where to save a ZIP. The file appears when it is complete; if it breaks off, an older file stays unchanged. `undefined` if the user
 * cancels.
 */
async function askWhereToSave(suggestedName: string): Promise<SaveStream | undefined> {
  const types = [{ accept: { 'application/zip': ['.zip'] } }]
  const handle = await (window as SavingWindow)
    .showSaveFilePicker?.({ suggestedName, types })
    .catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') return undefined
      throw error
    })
  if (!handle) return undefined
  return async (content, signal) => content.pipeTo(await handle.createWritable(), { signal })
}
