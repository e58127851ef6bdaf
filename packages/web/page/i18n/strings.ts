import type { en } from './en.ts'

export type StringKey = keyof typeof en

/** The texts that a language must have, by key. */
export type Strings = Readonly<Record<StringKey, string>>

/** Keys with separate forms for one and for other numbers. */
export type PluralKey = StringKey extends infer Key
  ? Key extends `${infer Stem}.one`
    ? Stem
    : never
  : never

export type Values = Readonly<Record<string, string | number>>

const changesDirection =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u202a-\u202e\u2066-\u2069]/u

/** Replaces names in braces in `text` by their `values`. */
export function fillIn(text: string, values: Values = {}): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    isolated(String(values[name] ?? placeholder)),
  )
}

/** Isolates a value with characters of the other direction, or direction marks, from the words around it (UAX #9, FSI and PDI). */
function isolated(value: string): string {
  return changesDirection.test(value) ? `\u2068${value}\u2069` : value
}
