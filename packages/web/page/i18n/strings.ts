import type { en } from './en.ts'

export type StringKey = keyof typeof en

/** What a language must have: each text, by its key. */
export type Strings = Readonly<Record<StringKey, string>>

/** Keys that have forms for one and for others. */
export type PluralKey = StringKey extends infer Key
  ? Key extends `${infer Stem}.one`
    ? Stem
    : never
  : never

export type Values = Readonly<Record<string, string | number>>

/** `text` with `values` in the places of their names. */
export function fillIn(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place))
}
