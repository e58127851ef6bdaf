import { signal, type Signal, batch, type ReadonlySignal } from '@preact/signals'

export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running' }
  | { readonly kind: 'paused' }
  /** It will be retried automatically. */
  | { readonly kind: 'retrying' }
  /** The name is taken, and the user must decide. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'done' }

/** A file to upload. */
export interface UploadItem {
  readonly id: number
  readonly file: File
  /** The name on the server; another one after "keep both". */
  readonly name: Signal<string>
  readonly state: Signal<UploadState>
  /** Bytes that have been sent. */
  readonly sent: Signal<number>
  /** Whether the user has chosen to replace the file of that name. */
  replaces: boolean
  /** Failures in a row without any progress. */
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

type Kind = UploadState['kind']
export type UploadCounts = Readonly<Record<Kind, number>>

/** The uploads in their order, and how many there are in each state. */
interface UploadList {
  readonly items: ReadonlySignal<readonly UploadItem[]>
  readonly counts: ReadonlySignal<UploadCounts>
  readonly add: (files: readonly { readonly file: File; readonly name: string }[]) => void
  readonly set: (item: UploadItem, state: UploadState) => void
  readonly isIn: (item: UploadItem, ...kinds: readonly Kind[]) => boolean
  readonly remove: (gone: ReadonlySet<UploadItem>) => void
}

const none: UploadCounts = {
  waiting: 0,
  running: 0,
  paused: 0,
  retrying: 0,
  conflict: 0,
  failed: 0,
  done: 0,
}

export function createUploadList(): UploadList {
  const items = signal<readonly UploadItem[]>([])
  const counts = signal(none)
  const kindOf = ({ state }: UploadItem) => state.peek().kind
  const count = (kind: Kind, more: number) => {
    counts.value = { ...counts.peek(), [kind]: counts.peek()[kind] + more }
  }
  return {
    items,
    counts,
    add(files) {
      batch(() => {
        count('waiting', files.length)
        items.value = [
          ...items.peek(),
          ...files.map(({ file, name }) => createUploadItem(file, name)),
        ]
      })
    },
    set(item, state) {
      batch(() => {
        count(kindOf(item), -1)
        count(state.kind, 1)
        item.state.value = state
      })
    },
    isIn: (item, ...kinds) => kinds.includes(kindOf(item)),
    remove(gone) {
      batch(() => {
        const left = items.peek().filter((item) => !gone.has(item))
        const found = items.peek().filter((item) => gone.has(item))
        for (const item of found) count(kindOf(item), -1)
        items.value = left
      })
    },
  }
}
