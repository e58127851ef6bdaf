import { FolderUp, Upload } from 'lucide'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon } from '../app/icon.tsx'
import { t } from '../i18n/language.ts'
import { chosenFiles, type NamedFile } from './collect-files.ts'

interface UploadButtonsProps {
  readonly onFiles: (files: readonly NamedFile[]) => void
}

/** No standard has it, and all browsers know it. */
const asFolder = { webkitdirectory: true }

/** Chooses files, or a folder: no browser lets one choose either in one dialog. */
export function UploadButtons({ onFiles }: UploadButtonsProps): JSX.Element {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const take = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    onFiles(chosenFiles(currentTarget.files ?? []))
    // The same files may be chosen again.
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
