import { signal } from '@preact/signals'

/** Whether the browser is about to print the page, so that rows out of sight must be in the document, too. */
export const isPrinting = signal(false)

addEventListener('beforeprint', () => (isPrinting.value = true))
addEventListener('afterprint', () => (isPrinting.value = false))
