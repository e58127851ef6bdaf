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

const turning =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u202a-\u202e\u2066-\u2069]/u

/** `text` with `values` in the places of their names. */
export function fillIn(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) =>
    isolated(String(values[name] ?? place)),
  )
}

/** A name in another direction, or with signs that turn it, does not turn the words around it (UAX #9, FSI and PDI). */
function isolated(value: string): string {
  return turning.test(value) ? `\u2068${value}\u2069` : value
}
