import { signal, type Signal } from '@preact/signals'

export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running' }
  | { readonly kind: 'paused' }
  /** It is tried again by itself after a while. */
  | { readonly kind: 'retrying' }
  /** The name is taken, and the user decides. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'done' }

/** One file on its way. */
export interface UploadItem {
  readonly id: number
  readonly file: File
  /** The name that it gets; another one after "keep both". */
  readonly name: Signal<string>
  readonly state: Signal<UploadState>
  /** Bytes that have been sent. */
  readonly sent: Signal<number>
  /** Whether the user has chosen to replace the file of that name. */
  replaces: boolean
  /** Failures in a row without a byte between them. */
  failures: number
}

let count = 0

export function createUploadItem(file: File, name: string): UploadItem {
  return {
    id: ++count,
    file,
    name: signal(name),
    state: signal<UploadState>({ kind: 'waiting' }),
    sent: signal(0),
    replaces: false,
    failures: 0,
  }
}
