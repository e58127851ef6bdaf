import { effect } from '@preact/signals'
import { language } from './language.ts'

/** Keeps the language of the document, for screen readers and hyphenation. */
export function keepDocumentLanguage(): void {
  effect(() => {
    document.documentElement.lang = language.value
  })
}
