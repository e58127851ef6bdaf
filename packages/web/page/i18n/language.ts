import { batch, signal } from '@preact/signals'
import { readSetting, writeSetting } from '../browser/storage-and-timers.ts'
import { en } from './en.ts'
import { formatCount } from './format.ts'
import { fillIn, type PluralKey, type StringKey, type Strings, type Values } from './strings.ts'

/** The languages of the page, each by its own name. */
export const languageNames = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
} as const
export type Language = keyof typeof languageNames

/** English comes with the page; another language is loaded when it is needed. */
const loaders: Readonly<Record<Language, () => Promise<Strings>>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import('./de.ts')).de,
  fr: async () => (await import('./fr.ts')).fr,
  es: async () => (await import('./es.ts')).es,
}

const known = (tag: string | undefined): Language | undefined =>
  Object.keys(languageNames).find((each): each is Language => tag?.split('-')[0] === each)

const preferred = () => navigator.languages.map(known).find((each) => each !== undefined) ?? 'en'

/** The language of the page. */
export const language = signal<Language>('en')

const strings = signal<Strings>(en)

/** Loads the chosen language, or else the first of the browser's languages that the page has. Without an answer it stays English. */
export async function startLanguage(): Promise<void> {
  await show(known(readSetting('language')) ?? preferred()).catch(() => {})
}

async function show(chosen: Language): Promise<void> {
  const texts = await loaders[chosen]()
  batch(() => {
    language.value = chosen
    strings.value = texts
  })
}

/** The text `key` in the language of the page. */
export function t(key: StringKey, values?: Values): string {
  return fillIn(strings.value[key], values)
}

/** The text `key` in the form for `count`. The text may contain the count. */
export function plural(key: PluralKey, count: number): string {
  const form = new Intl.PluralRules(language.value).select(count) === 'one' ? 'one' : 'other'
  return t(`${key}.${form}`, { count: formatCount(count, language.value) })
}

/** @throws TypeError if the language cannot be loaded */
export async function chooseLanguage(chosen: Language): Promise<void> {
  await show(chosen)
  writeSetting('language', chosen)
}
