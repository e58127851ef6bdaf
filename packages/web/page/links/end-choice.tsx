import type { JSX } from 'preact'
import { t } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'

const ends: readonly (readonly [StringKey, number])[] = [
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
]

interface EndChoiceProps {
  readonly seconds: number
  readonly onChoose: (seconds: number) => void
}

/** After how long a link ends. */
export function EndChoice({ seconds, onChoose }: EndChoiceProps): JSX.Element {
  return (
    <fieldset class="segments">
      <legend>{t('linkEnds')}</legend>
      {ends.map(([label, each]) => (
        <label key={label}>
          <input
            type="radio"
            name="ends"
            checked={seconds === each}
            onChange={() => onChoose(each)}
          />
          <span>{t(label)}</span>
        </label>
      ))}
    </fieldset>
  )
}
