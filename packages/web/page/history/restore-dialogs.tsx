import type { JSX } from 'preact'
import { plural, t } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { ConflictDialog } from '../uploads/conflict-dialog.tsx'
import type { Restores } from './restores.ts'

/** The most failed files that are listed; more would not be read. */
const mostListed = 100

interface RestoreDialogsProps {
  readonly restores: Restores
  readonly mayReplace: boolean
}

/** Asks about names that are taken, and then lists what could not be restored. */
export function RestoreDialogs({ restores, mayReplace }: RestoreDialogsProps): JSX.Element | null {
  const [conflict] = restores.conflicts.value
  if (conflict) {
    return (
      <ConflictDialog
        name={conflict.name}
        bothHint="restoreBothHint"
        forAll={conflict.others > 0 ? t('forAllNext') : undefined}
        mayReplace={mayReplace}
        isKept
        onDecide={conflict.decide}
        // The file stays among the deleted ones.
        onClose={() => conflict.decide('skip', false)}
      />
    )
  }
  return restores.failed.value.length > 0 ? <FailedDialog restores={restores} /> : null
}

function FailedDialog({ restores }: { readonly restores: Restores }): JSX.Element {
  const failed = restores.failed.value
  const listed = failed.slice(0, mostListed)
  const retry = () => {
    restores.dismissFailed()
    restores.restore(failed.map(({ file }) => file))
  }
  return (
    <Dialog
      title={plural('restoreFailedMany', failed.length)}
      class="failed"
      onClose={restores.dismissFailed}
    >
      <ul class="failed-list" tabIndex={0} aria-label={plural('restoreFailedMany', failed.length)}>
        {listed.map(({ file, error }) => (
          <li key={file.name}>
            <bdi>{file.name}</bdi>
            <small>{explainError(error)}</small>
          </li>
        ))}
        {failed.length > listed.length && (
          <li>{plural('moreUploads', failed.length - listed.length)}</li>
        )}
      </ul>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={restores.dismissFailed}>
          {t('close')}
        </button>
        <button type="button" class="button button-main" onClick={retry}>
          {t('tryAgain')}
        </button>
      </div>
    </Dialog>
  )
}
