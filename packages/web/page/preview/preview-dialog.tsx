import {
  ChevronLeft,
  ChevronRight,
  Download,
  History,
  Info,
  Link,
  Pencil,
  Trash2,
  Undo2,
} from 'lucide'
import type { JSX } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { IconButton } from '../parts/icon.tsx'
import type { CustomerAccess, ViewedFile } from '../api/connection.ts'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { FileAction, RowActions } from '../list/file-row.tsx'
import { readFile, makeLink } from '../api/requests.ts'
import { areDetailsShown, Details, toggleDetails } from './details.tsx'
import { type ContentAccess, PreviewContent } from './preview-content.tsx'

interface PreviewDialogProps {
  readonly access: CustomerAccess
  /** The files of the list, in its order. */
  readonly shown: readonly ViewedFile[]
  readonly file: ViewedFile
  /** How the time of the file is written. Default: without words. */
  readonly moment?: 'deletedAt' | 'versionOf'
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly isInAddress?: boolean
  readonly onClose: () => void
}

/** A preview of one file; the arrow keys lead to its neighbours in the list. */
export function PreviewDialog({
  access,
  shown,
  file,
  moment,
  actions,
  isInAddress = false,
  onClose,
}: PreviewDialogProps): JSX.Element {
  const index = shown.findIndex(({ name }) => name === file.name)
  const go = (step: number) => {
    const other = shown[index + step]
    if (other) actions.open?.(other)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isOwn = (event.target as HTMLElement).closest('video, audio, pre, .preview-formatted')
    if (isOwn || event.ctrlKey || event.metaKey || event.altKey) return
    const forward = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') go(event.key === forward ? 1 : -1)
  }
  const { name } = file
  const { link, rename, versions, restore } = actions
  const date = formatMoment(new Date(file.modified), language.value)
  /** Closes the preview first: what follows has a dialog of its own, or takes the file out of the list. */
  const afterClosing = (action: FileAction) => () => {
    onClose()
    action(file)
  }
  const facts = [
    formatSize(file.size, language.value),
    moment ? t(moment, { date }) : date,
    ...(file.expires === undefined ? [] : [expiryOf(file.expires)]),
  ].join(' · ')
  return (
    <Dialog
      title={name}
      class="preview"
      isInAddress={isInAddress}
      onClose={onClose}
      onKeyDown={onKeyDown}
    >
      <div class="preview-frame">
        <div class="preview-bar">
          <span class="preview-facts">{facts}</span>
          {shown.length > 1 && (
            <>
              <IconButton icon={ChevronLeft} label={t('previous')} onClick={() => go(-1)} />
              <IconButton icon={ChevronRight} label={t('next')} onClick={() => go(1)} />
            </>
          )}
          <IconButton
            icon={Info}
            label={t('details')}
            isPressed={areDetailsShown.value}
            onClick={toggleDetails}
          />
          <IconButton
            icon={Download}
            label={t('downloadFile', { name })}
            onClick={() => actions.download?.(file)}
          />
          {link && <IconButton icon={Link} label={t('makeLink')} onClick={() => link(file)} />}
          {rename && (
            <IconButton
              icon={Pencil}
              label={t('renameFile', { name })}
              onClick={afterClosing(rename)}
            />
          )}
          {versions && (
            <IconButton
              icon={History}
              label={t('versionsOf', { name })}
              onClick={afterClosing(versions)}
            />
          )}
          {restore && (
            <IconButton
              icon={Undo2}
              label={t('restoreFile', { name })}
              onClick={afterClosing(restore)}
            />
          )}
          {actions.delete && (
            <IconButton
              icon={Trash2}
              label={t('deleteFile', { name })}
              onClick={afterClosing(actions.delete)}
            />
          )}
        </div>
        <div class="preview-content">
          <div class="preview-stage">
            <PreviewContent access={contentAccess(access, file)} />
          </div>
          {areDetailsShown.value && (
            <Details
              connection={access.connection}
              file={file}
              onLink={link && (() => link(file))}
              onVersions={versions && afterClosing(versions)}
            />
          )}
        </div>
      </div>
    </Dialog>
  )
}

const expiryOf = (expires: string) =>
  t('expires', { date: formatMoment(new Date(expires), language.value) })

/** How the preview reads a file. No link opens an earlier version. */
function contentAccess({ connection, hasLinks }: CustomerAccess, file: ViewedFile): ContentAccess {
  return {
    file,
    read: (options) => readFile(connection, file, options),
    link:
      hasLinks && file.version === undefined
        ? async () => (await makeLink(connection, file.name, { inline: true })).url
        : undefined,
  }
}
