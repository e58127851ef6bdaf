import { nameFromPath } from '@holdfast/client/browser'
import { Upload } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../app/icon.tsx'
import { notifyError } from '../app/notices.ts'
import { explainError } from '../app/explain-error.ts'
import { formatMoment } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { chosenFiles, droppedFiles, type NamedFile } from './collect-files.ts'

interface DropZoneProps {
  readonly onFiles: (files: readonly NamedFile[]) => void
}

/** Takes files that are dropped anywhere on the page, or pasted. Shows where they would go. */
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
      // Without it the browser would show the file in place of the page.
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

/** Browsers call every picture that is pasted `image.png`. */
function pasted(file: File): NamedFile {
  const [named] = chosenFiles([file])
  if (file.name !== 'image.png' && named) return named
  const date = formatMoment(new Date(), language.value).replaceAll(/[:/]/g, '.')
  return { file, name: nameFromPath(`${t('pasted', { date })}.png`) }
}
