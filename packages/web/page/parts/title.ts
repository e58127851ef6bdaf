import { effect, signal } from '@preact/signals'
import { formatPercent } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'

/** The title of the document, without the progress. */
export const title = signal('holdfast')

/** How far the uploads are, from 0 to 1; the title shows it, so that one sees it from another tab. */
export const shownProgress = signal<number | undefined>(undefined)

/** Keeps the document's title current. */
export function keepTitle(): void {
  effect(() => {
    const share = shownProgress.value
    const progress = share === undefined ? [] : [formatPercent(share, language.value)]
    document.title = [...progress, title.value].join(' · ')
  })
}
