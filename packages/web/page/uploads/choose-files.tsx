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
  readonly onFiles: (files: readonly NamedFile[]) => void
}

/** Accepts files that are dropped anywhere on the page, or pasted. Shows that they would be uploaded. */
export function DropZone({ onFiles }: DropZoneProps): JSX.Element | null {
  const [state, setState] = useState<'idle' | 'over' | 'reading'>('idle')
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
      if (hasFiles(event)) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event)) return
      event.preventDefault()
      depth = 0
      setState('reading')
      droppedFiles(event.dataTransfer)
        .then(onFiles, (error: unknown) => notifyError(explainError(error)))
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
  return (
    <div class="drop-zone" role="status">
      <div class="drop-zone-card">
        <Icon of={Upload} size={40} />
        <p class="drop-zone-title">{t(state === 'over' ? 'dropHere' : 'readingFolder')}</p>
        <p>{t('dropHint')}</p>
      </div>
    </div>
  )
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
