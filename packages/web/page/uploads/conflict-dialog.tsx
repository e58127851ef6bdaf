import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import { Dialog } from '../parts/dialog.tsx'
import { nextName, type Decision } from './upload-queue.ts'

interface ConflictDialogProps {
  /** The name that is taken. */
  readonly name: string
  /** What "Keep both" does. */
  readonly bothHint: StringKey
  /** For which other files the user can decide, too; left out if there is none. */
  readonly forAll: string | undefined
  readonly mayReplace: boolean
  /** Whether a file that is replaced can be restored. */
  readonly isKept: boolean
  readonly onDecide: (decision: Decision, isForAll: boolean) => void
  /** The user closes the dialog without a decision, as by Escape. */
  readonly onClose: () => void
}

/** Asks what to do with a file whose name is taken. It stays open from one file to the next. */
export function ConflictDialog(props: ConflictDialogProps): JSX.Element {
  const { name, bothHint, forAll, mayReplace, isKept, onDecide, onClose } = props
  const [isForAll, setForAll] = useState(false)
  const decided = useRef<Decision>()
  const choices: readonly (readonly [Decision, StringKey, StringKey])[] = [
    ['keep-both', 'keepBoth', bothHint],
    ['replace', 'replace', isKept ? 'replaceKeptHint' : 'replaceHint'],
    ['skip', 'skip', 'skipHint'],
  ]
  return (
    <Dialog title={t('nameTaken')} class="conflict" onClose={onClose}>
      <p class="conflict-lead">{t('nameTakenLead', { name })}</p>
      <div class="choices">
        {choices
          .filter(([decision]) => mayReplace || decision !== 'replace')
          .map(([decision, label, hint], index) => (
            <button
              key={decision}
              type="button"
              class="choice"
              // Otherwise it would be the button that closes the dialog.
              autofocus={index === 0}
              onClick={(event) => {
                // Ignore the second click of a double click: the user has not read the next question yet.
                if (event.detail > 1 && decision === decided.current) return
                decided.current = decision
                setForAll(false)
                onDecide(decision, isForAll)
              }}
              onKeyDown={(event) => {
                // Also ignore Enter that is still held.
                if (event.repeat && event.key === 'Enter') event.preventDefault()
              }}
            >
              <strong>{t(label)}</strong>
              <span>{t(hint, { name: nextName(name) })}</span>
            </button>
          ))}
      </div>
      {forAll !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={isForAll}
            onChange={({ currentTarget }) => setForAll(currentTarget.checked)}
          />
          {forAll}
        </label>
      )}
    </Dialog>
  )
}
