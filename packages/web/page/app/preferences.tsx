import type { JSX } from 'preact'
import { chooseLanguage, language, languages, t, type Language } from '../i18n/language.ts'
import type { StringKey } from '../i18n/strings.ts'
import { chooseTheme, theme, themes, type Theme } from './theme.ts'

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
          onChange={({ currentTarget }) => chooseLanguage(currentTarget.value as Language)}
        >
          {Object.entries(languages).map(([tag, strings]) => (
            <option key={tag} value={tag} lang={tag}>
              {strings.language}
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
