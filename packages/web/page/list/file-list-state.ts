import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Client, FileDetails, Usage } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { language } from '../i18n/language.ts'

/** The first page is soon there, and the others are few. */
const pageSizes = [1000, 10_000]

export type ListStatus = 'loading' | 'complete' | { readonly error: unknown }

/** What the list shows, and what changes it. */
export interface FileList {
  /** All that has been loaded and is not hidden, in order. */
  readonly all: ReadonlySignal<readonly FileDetails[]>
  /** How many files are hidden, since their deletion is still to come or under way. */
  readonly leaving: ReadonlySignal<number>
  /** Those that the filter leaves. */
  readonly visible: ReadonlySignal<readonly FileDetails[]>
  readonly filter: Signal<string>
  readonly order: Signal<Order>
  readonly status: ReadonlySignal<ListStatus>
  readonly usage: ReadonlySignal<Usage | undefined>
  readonly selected: Signal<ReadonlySet<string>>
  load(): Promise<void>
  readonly refreshUsage: () => void
  /** The usage as it was a moment ago, which many callers may ask for in a row; `undefined` if the server does not say. */
  readonly recentUsage: () => Promise<Usage | undefined>
  /** Notes a file that has been stored. */
  readonly add: (file: FileDetails) => void
  /** Takes names out of the list; `show` brings them back. */
  hide(names: readonly string[]): void
  show(names: readonly string[]): void
  /** Notes that a file is gone. */
  remove(name: string): void
  end(): void
}

/** What a name has now; `undefined` where its file is gone. */
type Change = readonly [name: string, file: FileDetails | undefined]

export function createFileList({ client }: Connection): FileList {
  const { usage, refreshUsage, recentUsage } = createUsage(client)
  const loaded = signal<readonly FileDetails[]>([])
  const hidden = signal<ReadonlySet<string>>(new Set())
  const status = signal<ListStatus>('loading')
  const filter = signal('')
  const order = signal<Order>({ column: 'name', isDescending: false })
  const selected = signal<ReadonlySet<string>>(new Set())
  const sorted = computed(() => sortFiles(loaded.value, order.value, language.value))
  const all = computed(() => {
    const left = hidden.value
    return left.size === 0 ? sorted.value : sorted.value.filter(({ name }) => !left.has(name))
  })
  const leaving = computed(() => hidden.value.size)
  const applyFilter = createFilter()
  const visible = computed(() => applyFilter(all.value, filter.value))
  let loading = new AbortController()
  /** What has changed since the last load began, which that may have missed. */
  const changes = new Map<Change[0], Change[1]>()

  function withChanges(files: readonly FileDetails[]): readonly FileDetails[] {
    if (changes.size === 0) return [...files]
    const changed = [...changes.values()].filter((file) => file !== undefined)
    return [...files.filter(({ name }) => !changes.has(name)), ...changed]
  }

  const applySoon = gathering<Change>((made) => {
    const latest = new Map(made)
    const changed = [...latest.values()].filter((file) => file !== undefined)
    batch(() => {
      // In order but for the new ones, which makes sorting quick.
      loaded.value = [...sorted.peek().filter(({ name }) => !latest.has(name)), ...changed]
      hidden.value = new Set([...hidden.value].filter((name) => !latest.has(name)))
    })
  })
  const change = (name: string, file: FileDetails | undefined) => {
    changes.set(name, file)
    applySoon([name, file])
  }

  return {
    all,
    leaving,
    visible,
    filter,
    order,
    status,
    usage,
    selected,
    add: (file) => change(file.name, file),
    refreshUsage,
    recentUsage,
    async load() {
      loading.abort()
      loading = new AbortController()
      const { signal: ended } = loading
      // What they say is in the list that comes.
      applySoon.now()
      changes.clear()
      status.value = 'loading'
      refreshUsage()
      const files: FileDetails[] = []
      try {
        for await (const page of client.listPages({ pageSizes, signal: ended })) {
          if (ended.aborted) return
          prepareFilter(page)
          files.push(...page)
          // Sorting anew takes time, so it is done each time that there are twice as many.
          if (files.length >= 2 * loaded.value.length) loaded.value = withChanges(files)
        }
        batch(() => {
          loaded.value = withChanges(files)
          status.value = 'complete'
        })
      } catch (error) {
        if (!ended.aborted) status.value = { error }
      }
    },
    hide(names) {
      const chosen = new Set(selected.value)
      for (const name of names) chosen.delete(name)
      batch(() => {
        hidden.value = new Set([...hidden.value, ...names])
        selected.value = chosen
      })
    },
    show(names) {
      const back = new Set(names)
      hidden.value = new Set([...hidden.value].filter((name) => !back.has(name)))
    },
    remove: (name) => change(name, undefined),
    end: () => loading.abort(),
  }
}

/** What the customer uses, as the server says. */
function createUsage(client: Client): Pick<FileList, 'usage' | 'refreshUsage' | 'recentUsage'> {
  const usage = signal<Usage | undefined>(undefined)
  let latest = Promise.resolve<Usage | undefined>(undefined)
  let isRecentUntil = -Infinity
  const refresh = () => {
    const askedAt = performance.now()
    isRecentUntil = Infinity
    latest = client
      .usage()
      .catch(() => undefined)
      .then((known) => {
        const now = performance.now()
        // A server may have to count many files at each question.
        isRecentUntil = now + Math.max(1000, 20 * (now - askedAt))
        return (usage.value = known)
      })
    return latest
  }
  return {
    usage,
    refreshUsage: () => void refresh(),
    recentUsage: () => (performance.now() < isRecentUntil ? latest : refresh()),
  }
}

/** Hands on what comes within a quarter of a second at once: a thousand small files are stored quickly. */
function gathering<Item>(take: (items: readonly Item[]) => void) {
  let gathered: Item[] = []
  const now = () => {
    const items = gathered
    gathered = []
    if (items.length > 0) take(items)
  }
  const soon = (item: Item) => {
    gathered.push(item)
    if (gathered.length === 1) setTimeout(now, 250)
  }
  return Object.assign(soon, { now })
}

const folded = new WeakMap<FileDetails, string>()

/** The files whose names contain every word of `text`, whatever the case and the accents. */
export function filterFiles(files: readonly FileDetails[], text: string): readonly FileDetails[] {
  const words = fold(text).split(/\s+/).filter(Boolean)
  if (words.length === 0) return files
  return files.filter((file) => {
    const name = foldedName(file)
    return words.every((word) => name.includes(word))
  })
}

/** Filters as `filterFiles`; a text that goes on where the last one ended looks only at what that has left. */
export function createFilter(): typeof filterFiles {
  let last: {
    readonly files: readonly FileDetails[]
    text: string
    found: readonly FileDetails[]
  } = {
    files: [],
    text: '',
    found: [],
  }
  return (files, text) => {
    const goesOn = files === last.files && text.startsWith(last.text)
    last = { files, text, found: filterFiles(goesOn ? last.found : files, text) }
    return last.found
  }
}

/** Prepares the names, so that the first letter finds them as quickly as the others. */
function prepareFilter(files: readonly FileDetails[]): void {
  files.forEach(foldedName)
}

/** Kept, since every letter that is typed looks at all names. */
function foldedName(file: FileDetails): string {
  const known = folded.get(file)
  if (known !== undefined) return known
  const name = fold(file.name)
  folded.set(file, name)
  return name
}

function fold(text: string): string {
  // Most names have nothing to fold but their case.
  if (/^[\u0020-\u007e]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
}

export type Column = 'name' | 'size' | 'modified' | 'type'

interface Order {
  readonly column: Column
  readonly isDescending: boolean
}

type Compare = (one: FileDetails, other: FileDetails) => number

/** `files` in `order`; equal ones by name. Quick where most of them are in order already. */
export function sortFiles(
  files: readonly FileDetails[],
  order: Order,
  language: string,
): FileDetails[] {
  const { compare } = new Intl.Collator(language, { numeric: true })
  const byName: Compare = (one, other) => compare(one.name, other.name)
  const by: Readonly<Record<Column, Compare>> = {
    name: byName,
    size: (one, other) => one.size - other.size,
    modified: (one, other) => compareText(one.modified, other.modified),
    type: (one, other) => compareText(one.type, other.type),
  }
  const first = by[order.column]
  const sign = order.isDescending ? -1 : 1
  return [...files].sort((one, other) => sign * first(one, other) || byName(one, other))
}

const compareText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

/** The order after a click on the head of `column`: what is new and large first, names from A. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.column === column) return { column, isDescending: !order.isDescending }
  return { column, isDescending: column === 'size' || column === 'modified' }
}
