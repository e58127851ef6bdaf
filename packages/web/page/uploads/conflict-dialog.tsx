import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { plural, t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import type { Uploads } from './run-uploads.ts'
import { nextName, type Decision } from './upload-queue.ts'
import type { UploadItem } from './upload-item.ts'

const choices: readonly (readonly [Decision, StringKey, StringKey])[] = [
  ['keep-both', 'keepBoth', 'keepBothHint'],
  ['replace', 'replace', 'replaceHint'],
  ['skip', 'skip', 'skipHint'],
]

/** Asks what becomes of an upload whose name the server has found taken. */
export function ConflictDialog({ uploads }: { readonly uploads: Uploads }): JSX.Element | null {
  const [isForAll, setForAll] = useState(false)
  const asked = useRef<UploadItem>()
  const decided = useRef<Decision>()
  // The counts change with the states, which may be thousands.
  const count = uploads.counts.value.conflict
  if (count === 0) return null
  const conflicts = uploads.items.peek().filter(({ state }) => state.peek().kind === 'conflict')
  // One that comes meanwhile must not change the question under the pointer.
  const shown = conflicts.find((item) => item === asked.current) ?? conflicts[0]
  asked.current = shown
  if (!shown) return null
  const name = shown.name.value
  const others = conflicts.length - 1
  return (
    <Dialog title={t('nameTaken')} class="conflict">
      <p class="conflict-lead">{t('nameTakenLead', { name })}</p>
      <div class="choices">
        {choices.map(([decision, label, hint]) => (
          <button
            key={decision}
            type="button"
            class="choice"
            onClick={(event) => {
              // The second click of a double click, which the next question has not been read for.
              if (event.detail > 1 && decision === decided.current) return
              decided.current = decision
              setForAll(false)
              uploads.decide(shown, decision, isForAll)
            }}
            onKeyDown={(event) => {
              // Nor is Enter that is still held an answer to it.
              if (event.repeat && event.key === 'Enter') event.preventDefault()
            }}
          >
            <strong>{t(label)}</strong>
            <span>{t(hint, { name: nextName(name) })}</span>
          </button>
        ))}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={isForAll}
          onChange={({ currentTarget }) => setForAll(currentTarget.checked)}
        />
        {others > 0 ? plural('forAllConflicts', others) : t('forAllNext')}
      </label>
    </Dialog>
  )
}
