import type { JSX } from 'preact'
import { effect, signal } from '@preact/signals'
import { chooseLanguage, language, languageNames, t, type Language } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import { readSetting, writeSetting } from '../browser/storage-and-timers.ts'

const themeNames: Readonly<Record<Theme, StringKey>> = {
  auto: 'themeAuto',
  light: 'themeLight',
  dark: 'themeDark',
}

/** The language and the appearance of the page. */
export function Preferences(): JSX.Element {
  return (
    <div class="preferences">
      <label class="field">
        <span>{t('languageLabel')}</span>
        <select
          value={language.value}
          onChange={({ currentTarget }) => {
            // Without an answer the page keeps its language.
            chooseLanguage(currentTarget.value as Language).catch(() => {
              currentTarget.value = language.peek()
            })
          }}
        >
          {Object.entries(languageNames).map(([tag, name]) => (
            <option key={tag} value={tag} lang={tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{t('theme')}</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}
        >
          {themes.map((each) => (
            <option key={each} value={each}>
              {t(themeNames[each])}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

const themes = ['auto', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

export const theme = signal<Theme>(themes.find((each) => each === readSetting('theme')) ?? 'auto')

function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  writeSetting('theme', chosen)
}

/** The style sheet reads this; `auto` leaves the choice to the system. */
effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})

/** Keeps the document's language attribute current, for screen readers and hyphenation. */
export function keepDocumentLanguage(): void {
  effect(() => {
    document.documentElement.lang = language.value
  })
}
