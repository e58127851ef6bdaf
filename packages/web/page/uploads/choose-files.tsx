import { nameFromPath } from '@holdfast/client/browser'
import { Upload, FolderUp } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useState, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { notifyError } from '../parts/notices.ts'
import { explainError } from '../parts/explain-error.ts'
import { formatMoment } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'

interface DropZoneProps {
  /** `folder` is the prefix of the folder in the list onto which the files were dropped. */
  readonly onFiles: (files: readonly NamedFile[], folder?: string) => void
  /** The title of the folder that files get into otherwise; left out if there is none. */
  readonly into?: string | undefined
}

/** Accepts files that are dropped anywhere on the page, or pasted. Shows that they would be uploaded, and into which folder. */
export function DropZone({ onFiles, into }: DropZoneProps): JSX.Element | null {
  const [state, setState] = useState<'idle' | 'over' | 'reading'>('idle')
  const [folder, setFolder] = useState<DroppedOn>()
  useEffect(() => {
    let depth = 0
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return
      depth += 1
      setState('over')
    }
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return
      depth -= 1
      if (depth <= 0) setState('idle')
    }
    const over = (event: DragEvent) => {
      // Otherwise the browser would show the file instead of the page.
      if (!hasFiles(event)) return
      event.preventDefault()
      const now = folderUnder(event)
      setFolder((known) => (known?.prefix === now?.prefix ? known : now))
    }
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event)) return
      event.preventDefault()
      depth = 0
      const prefix = folderUnder(event)?.prefix
      setFolder(undefined)
      setState('reading')
      droppedFiles(event.dataTransfer)
        .then(
          (files) => onFiles(files, prefix),
          (error: unknown) => notifyError(explainError(error)),
        )
        .finally(() => setState('idle'))
    }
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const files = [...(clipboardData?.files ?? [])]
      if (files.length > 0) onFiles(files.map((file) => pasted(file)))
    }
    const ended = new AbortController()
    const { signal } = ended
    addEventListener('dragenter', enter, { signal })
    addEventListener('dragleave', leave, { signal })
    addEventListener('dragover', over, { signal })
    addEventListener('drop', drop, { signal })
    addEventListener('paste', paste, { signal })
    return () => ended.abort()
  }, [onFiles])
  if (state === 'idle') return null
  const title = folder?.title ?? into
  const dropText = title === undefined ? t('dropHere') : t('dropInto', { name: title })
  return (
    <div class={folder ? 'drop-zone drop-zone-folder' : 'drop-zone'} role="status">
      <div class="drop-zone-card">
        <Icon of={Upload} size={40} />
        <p class="drop-zone-title">{state === 'over' ? dropText : t('readingFolder')}</p>
        <p>{t('dropHint')}</p>
      </div>
    </div>
  )
}

/** A folder in the list, onto which files are dropped. */
interface DroppedOn {
  readonly prefix: string
  readonly title: string
}

function folderUnder({ target }: DragEvent): DroppedOn | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-folder]') : null
  const { folder: prefix, title = '' } = row?.dataset ?? {}
  return prefix === undefined ? undefined : { prefix, title }
}

/** Browsers name every pasted picture `image.png`. */
function pasted(file: File): NamedFile {
  const [named] = chosenFiles([file])
  if (file.name !== 'image.png' && named) return named
  const date = formatMoment(new Date(), language.value).replaceAll(/[:/]/g, '.')
  return { file, name: nameFromPath(`${t('pasted', { date })}.png`) }
}

interface UploadButtonsProps {
  readonly onFiles: (files: readonly NamedFile[]) => void
}

/** Not in any standard, but all browsers support it. */
const asFolder = { webkitdirectory: true }

/** Chooses files, or a folder: no browser has one dialog for both. */
export function UploadButtons({ onFiles }: UploadButtonsProps): JSX.Element {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const take = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    onFiles(chosenFiles(currentTarget.files ?? []))
    // Cleared, so that the same files can be chosen again.
    currentTarget.value = ''
  }
  return (
    <div class="upload-buttons">
      <input ref={files} type="file" multiple hidden onChange={take} data-choose="files" />
      <input ref={folder} type="file" {...asFolder} hidden onChange={take} data-choose="folder" />
      <button type="button" class="button button-main" onClick={() => files.current?.click()}>
        <Icon of={Upload} />
        <span>{t('upload')}</span>
      </button>
      <button
        type="button"
        class="button button-folder"
        aria-label={t('chooseFolder')}
        title={`${t('chooseFolder')}. ${t('folderRule')}`}
        onClick={() => folder.current?.click()}
      >
        <Icon of={FolderUp} />
      </button>
    </div>
  )
}

export interface NamedFile {
  readonly file: File
  readonly name: string
}

/** The dropped files, including those in folders. */
async function droppedFiles(transfer: DataTransfer): Promise<readonly NamedFile[]> {
  // Read at once, since the browser empties it after the event.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return chosenFiles(transfer.files)
  const found: NamedFile[] = []
  for (const entry of entries) await collect(entry, found)
  return found
}

/** The files of an input; those of a folder are named with the folder. */
export function chosenFiles(files: Iterable<File>): readonly NamedFile[] {
  return [...files].map((file) => ({
    file,
    name: nameFromPath(file.webkitRelativePath === '' ? file.name : file.webkitRelativePath),
  }))
}

async function collect(entry: FileSystemEntry, found: NamedFile[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      ;(entry as FileSystemFileEntry).file(resolve, reject)
    })
    found.push({ file, name: nameFromPath(entry.fullPath) })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // Returns a hundred at a time, and then none.
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject)
    })
    if (some.length === 0) return
    for (const each of some) await collect(each, found)
  }
}
