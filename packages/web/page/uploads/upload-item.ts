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

/** How many bytes a file costs besides its own: for small files the request takes longer than the bytes. */
const bytesPerFile = 50_000

/** How far the uploads are. */
interface UploadProgress {
  /** From 0 to 1, without the uploads that have failed. */
  readonly share: number
  /** What is still to be sent without a further action of the user. */
  readonly left: Amount
}

interface Amount {
  readonly bytes: number
  readonly files: number
}

/** Sums up the uploads; those that have failed do not count. */
export function progressOf(items: readonly UploadItem[]): UploadProgress {
  const all = { bytes: 0, files: 0 }
  const done = { bytes: 0, files: 0 }
  const left = { bytes: 0, files: 0 }
  for (const { file, state, sent } of items) {
    const { kind } = state.peek()
    if (kind === 'failed') continue
    add(all, file.size, 1)
    add(done, sent.peek(), kind === 'done' ? 1 : 0)
    if (kind === 'waiting' || kind === 'running' || kind === 'retrying') {
      add(left, file.size - sent.peek(), 1)
    }
  }
  return { share: all.files === 0 ? 1 : costOf(done) / costOf(all), left }
}

function add(sum: { bytes: number; files: number }, bytes: number, files: number): void {
  sum.bytes += bytes
  sum.files += files
}

const costOf = ({ bytes, files }: Amount) => bytes + files * bytesPerFile

/** Measures the speed of all uploads together, in the last seconds. */
export interface RateMeter {
  /** Starts to measure an upload; `from` is what had been sent before, if that is known. */
  meter(from?: number): UploadMeter
  perSecond(): Amount
  /** How long it takes to send `left`; `undefined` as long as that is unknown. */
  secondsFor(left: Amount): number | undefined
}

interface UploadMeter {
  /** Receives the bytes that the upload has sent so far. */
  sent(bytes: number): void
  /** Records that the file of `size` bytes is stored. */
  stored(size: number): void
}

interface Sample extends Amount {
  readonly at: number
}

const windowMs = 5000

export function createRateMeter(now: () => number = () => performance.now()): RateMeter {
  let samples: readonly Sample[] = []
  const recent = (at: number) => samples.filter((sample) => at - sample.at < windowMs)
  const record = (bytes: number, files: number) => {
    const at = now()
    samples = [...recent(at), { at, bytes, files }]
  }

  function perSecond(): Amount {
    const at = now()
    const counted = recent(at)
    const [first] = counted
    if (!first) return { bytes: 0, files: 0 }
    const seconds = Math.max(0.5, (at - first.at) / 1000)
    const sum = (of: keyof Amount) => counted.reduce((total, sample) => total + sample[of], 0)
    return { bytes: sum('bytes') / seconds, files: sum('files') / seconds }
  }

  return {
    perSecond,
    meter(from) {
      let last = from
      const sent = (bytes: number, files = 0) => {
        // Bytes of an earlier attempt do not count.
        record(last === undefined ? 0 : Math.max(0, bytes - last), files)
        last = bytes
      }
      // The time begins with the upload, and not with its first report.
      record(0, 0)
      return { sent, stored: (size) => sent(size, 1) }
    },
    secondsFor(left) {
      const speed = costOf(perSecond())
      return speed === 0 ? undefined : costOf(left) / speed
    },
  }
}
