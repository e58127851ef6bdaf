import { computed, signal } from '@preact/signals'
import { readSetting, writeSetting } from '../browser/storage.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { formatCount } from './format.ts'
import { fillIn, type PluralKey, type StringKey, type Strings, type Values } from './strings.ts'

export const languages = { en, de } as const satisfies Record<string, Strings>
export type Language = keyof typeof languages

const known = (tag: string | undefined): Language | undefined =>
  Object.keys(languages).find((each): each is Language => tag?.split('-')[0] === each)

const preferred = () => navigator.languages.map(known).find((each) => each !== undefined) ?? 'en'

/** The language of the page: the chosen one, or else the first of the browser's languages that the page has. */
export const language = signal<Language>(known(readSetting('language')) ?? preferred())

const strings = computed<Strings>(() => languages[language.value])

/** The text `key` in the language of the page. */
export function t(key: StringKey, values?: Values): string {
  return fillIn(strings.value[key], values)
}

/** The text `key` in the form for `count`. The text may contain the count. */
export function plural(key: PluralKey, count: number): string {
  const form = new Intl.PluralRules(language.value).select(count) === 'one' ? 'one' : 'other'
  return t(`${key}.${form}`, { count: formatCount(count, language.value) })
}

export function chooseLanguage(chosen: Language): void {
  language.value = chosen
  writeSetting('language', chosen)
}
