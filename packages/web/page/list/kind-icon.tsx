import {
  File,
  FileArchive,
  FileImage,
  FileMusic,
  FilePlay,
  FileSpreadsheet,
  FileText,
  FileType,
  type IconNode,
} from 'lucide'
import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import type { StringKey } from '../i18n/strings.ts'
import type { FileKind } from './file-kind.ts'

const icons: Readonly<Record<FileKind, IconNode>> = {
  image: FileImage,
  video: FilePlay,
  audio: FileMusic,
  text: FileText,
  pdf: FileType,
  archive: FileArchive,
  sheet: FileSpreadsheet,
  document: FileText,
  other: File,
}

export const kindNames: Readonly<Record<FileKind, StringKey>> = {
  image: 'kindImage',
  video: 'kindVideo',
  audio: 'kindAudio',
  text: 'kindText',
  pdf: 'kindPdf',
  archive: 'kindArchive',
  sheet: 'kindSheet',
  document: 'kindDocument',
  other: 'kindOther',
}

export function KindIcon({ kind }: { readonly kind: FileKind }): JSX.Element {
  return (
    <span class={`kind kind-${kind}`}>
      <Icon of={icons[kind]} size={20} />
    </span>
  )
}
