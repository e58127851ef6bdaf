import { signal } from '@preact/signals'

/** A message at the foot of the page. */
export interface Notice {
  readonly id: number
  /** A function if the text changes. */
  readonly text: string | (() => string)
  /** Errors stay until they are dismissed. */
  readonly isError: boolean
  readonly action?: { readonly label: string; readonly run: () => void }
}

export const notices = signal<readonly Notice[]>([])
let count = 0

/** Shows a message; returns a function that removes it. */
export function notify(notice: Omit<Notice, 'id'>): () => void {
  const id = ++count
  notices.value = [...notices.value, { ...notice, id }]
  return () => dismissNotice(id)
}

export const notifyError = (text: string) => notify({ text, isError: true })

export function dismissNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}
