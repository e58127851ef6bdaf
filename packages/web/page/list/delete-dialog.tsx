import type { JSX } from 'preact'
import { Dialog } from '../app/dialog.tsx'
import { plural, t } from '../i18n/language.ts'

/** Up to so many files are deleted without a question. */
export const mostUnasked = 100

interface DeleteDialogProps {
  readonly count: number
  readonly onDelete: () => void
  readonly onClose: () => void
}

/** Asks whether so many files are to be deleted. */
export function DeleteDialog({ count, onDelete, onClose }: DeleteDialogProps): JSX.Element {
  const confirm = () => {
    onClose()
    onDelete()
  }
  return (
    <Dialog title={plural('deleteAsk', count)} class="delete" onClose={onClose}>
      <p>{t('deleteAskLead')}</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {t('keepFiles')}
        </button>
        <button type="button" class="button button-danger" onClick={confirm}>
          {t('delete')}
        </button>
      </div>
    </Dialog>
  )
}
