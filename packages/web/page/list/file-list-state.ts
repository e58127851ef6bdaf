import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import {
  isHoldfastError,
  type Client,
  type FileDetails,
  type Usage,
} from '@holdfast/client/browser'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { language } from '../i18n/language.ts'

/** The first page arrives soon, and the others are few. */
const pageSizes = [1000, 10_000]

/** `hidden`: the login may not list. */
export type ListStatus = 'loading' | 'complete' | 'hidden' | { readonly error: unknown }

/** A list that is sorted, filtered and selected from. */
export interface ListedFiles {
  /** All loaded files that are not hidden, in order. */
  readonly all: ReadonlySignal<readonly ViewedFile[]>
  /** Those that match the filter. */
  readonly visible: ReadonlySignal<readonly ViewedFile[]>
  readonly filter: Signal<string>
  readonly order: Signal<Order>
  readonly status: ReadonlySignal<ListStatus>
  /** The names of the selected files. */
  readonly selected: Signal<ReadonlySet<string>>
  /** The last rename, unless its earlier name has been used since. */
  readonly renamed: ReadonlySignal<RenamedFile | undefined>
  load(): Promise<void>
}

/** The content of the list, and what changes it. */
export interface FileList extends ListedFiles {
  /** How many files are hidden because their deletion is waiting or running. */
  readonly deletingCount: ReadonlySignal<number>
  readonly usage: ReadonlySignal<Usage | undefined>
  readonly refreshUsage: () => void
  /** Whether the list has a file of that name. */
  readonly has: (name: string) => boolean
  /** Records a file that has been stored. */
  readonly add: (file: FileDetails) => void
  /** Hides names in the list; `show` shows them again. */
  hide(names: readonly string[]): void
  show(names: readonly string[]): void
  /** Records that a file is gone. */
  remove(name: string): void
  /** Records that the file `from` is `file` now; it stays selected. */
  rename(from: string, file: FileDetails): void
  /** Lists the names after `after` again, at most `limit`, and takes over what has changed since. */
  refresh(after: string, limit: number): Promise<RefreshedList>
  /** The rows that are in view, from one index to another, exclusive; the list writes it. */
  readonly inView: Signal<readonly [first: number, end: number]>
  /** The last name in the server's order before those in view; empty if there is none. */
  beforeView(): string
  end(): void
}

/** What has changed since the list was loaded. */
export interface RefreshedList {
  /** The names that are new. */
  readonly added: readonly string[]
  readonly hasChanged: boolean
  /** Where the next page begins; `undefined` at the end of the list. */
  readonly last: string | undefined
}

/** A file that has another name now. */
export interface RenamedFile {
  readonly from: string
  readonly to: string
}

/** The current file of a name; `undefined` if it is gone. */
type Change = readonly [name: string, file: FileDetails | undefined]

export function createFileList({ client }: Connection): FileList {
  const { usage, refreshUsage } = createUsage(client)
  const loaded = signal<readonly FileDetails[]>([])
  const hidden = signal<ReadonlySet<string>>(new Set())
  const status = signal<ListStatus>('loading')
  const filter = signal('')
  const order = signal<Order>({ column: 'name', isDescending: false })
  const selected = signal<ReadonlySet<string>>(new Set())
  const renamed = signal<RenamedFile | undefined>(undefined)
  const sorted = computed(() => sortFiles(loaded.value, order.value, language.value))
  const all = computed(() => {
    const left = hidden.value
    return left.size === 0 ? sorted.value : sorted.value.filter(({ name }) => !left.has(name))
  })
  const names = computed(() => new Set(all.value.map(({ name }) => name)))
  const deletingCount = computed(() => hidden.value.size)
  const applyFilter = createFilter()
  const visible = computed(() => applyFilter(all.value, filter.value))
  let loading = new AbortController()
  const inView = signal<readonly [number, number]>([0, 0])
  /** Names that have changed here while a part of the list was asked for again. */
  const changedMeanwhile = new Set<string>()
  /** Changes since the last load began, which the load may have missed. */
  const changes = new Map<Change[0], Change[1]>()

  function withChanges(files: readonly FileDetails[]): readonly FileDetails[] {
    if (changes.size === 0) return [...files]
    const changed = [...changes.values()].filter((file) => file !== undefined)
    return [...files.filter(({ name }) => !changes.has(name)), ...changed]
  }

  const applySoon = collectBriefly<Change>((made) => {
    const latest = new Map(made)
    const changed = [...latest.values()].filter((file) => file !== undefined)
    batch(() => {
      // In order except for the new ones, which makes sorting fast.
      loaded.value = [...sorted.peek().filter(({ name }) => !latest.has(name)), ...changed]
      hidden.value = new Set([...hidden.value].filter((name) => !latest.has(name)))
    })
  })
  const change = (name: string, file: FileDetails | undefined) => {
    if (renamed.value?.from === name) renamed.value = undefined
    changes.set(name, file)
    changedMeanwhile.add(name)
    applySoon([name, file])
  }

  return {
    all,
    deletingCount,
    visible,
    filter,
    order,
    status,
    usage,
    selected,
    has: (name) => names.peek().has(name),
    add: (file) => change(file.name, file),
    refreshUsage,
    async load() {
      loading.abort()
      loading = new AbortController()
      const { signal: ended } = loading
      // The list that is being loaded will contain these changes.
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
          // Sorting takes time, so it is repeated only when the number has doubled.
          if (files.length >= 2 * loaded.value.length) loaded.value = withChanges(files)
        }
        batch(() => {
          loaded.value = withChanges(files)
          status.value = 'complete'
        })
      } catch (error) {
        if (ended.aborted) return
        status.value = isHoldfastError(error, 'not-allowed') ? 'hidden' : { error }
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
    rename(from, file) {
      change(from, undefined)
      change(file.name, file)
      const chosen = [...selected.value]
      selected.value = new Set(chosen.map((name) => (name === from ? file.name : name)))
      renamed.value = { from, to: file.name }
    },
    renamed,
    inView,
    beforeView() {
      const [first, end] = inView.peek()
      const shown = visible.peek().slice(first, end)
      const least = shown.reduce(
        (name, file) => (isBefore(file.name, name) ? file.name : name),
        shown[0]?.name ?? '',
      )
      let before = ''
      for (const { name } of loaded.peek()) {
        if (isBefore(name, least) && isBefore(before, name)) before = name
      }
      return before
    },
    async refresh(after, limit) {
      changedMeanwhile.clear()
      const { signal: ended } = loading
      const pages = client.listPages({ after, pageSizes: [limit], signal: ended })
      const next = await pages.next()
      const page = next.done === true ? [] : next.value
      if (ended.aborted) return { added: [], hasChanged: false, last: undefined }
      const last = page.length < limit ? undefined : page.at(-1)?.name
      const { changed, gone } = compareLists(loaded.peek(), page, after, last)
      const known = new Set(loaded.peek().map(({ name }) => name))
      const fresh = changed.filter(({ name }) => !changedMeanwhile.has(name))
      const removed = gone.filter((name) => !changedMeanwhile.has(name))
      for (const file of fresh) applySoon([file.name, file])
      for (const name of removed) applySoon([name, undefined])
      applySoon.now()
      const added = fresh.map(({ name }) => name).filter((name) => !known.has(name))
      return { added, hasChanged: fresh.length + removed.length > 0, last }
    },
    end: () => loading.abort(),
  }
}

/** What has changed in a part of the list: after `after`, and up to `last` or its end. */
function compareLists(
  loaded: readonly FileDetails[],
  page: readonly FileDetails[],
  after: string,
  last: string | undefined,
) {
  const known = new Map(loaded.map((file) => [file.name, file]))
  const listed = new Set(page.map(({ name }) => name))
  const isListed = (name: string) =>
    isBefore(after, name) && (last === undefined || !isBefore(last, name))
  return {
    changed: page.filter(({ name, etag }) => known.get(name)?.etag !== etag),
    gone: loaded.map(({ name }) => name).filter((name) => !listed.has(name) && isListed(name)),
  }
}

/** Whether a name comes before another one in the server's order, which is that of their UTF-8 bytes. */
function isBefore(one: string, other: string): boolean {
  // UTF-16 has another order only where there are surrogates.
  if (!/[\ud800-\uffff]/.test(one + other)) return one < other
  const [bytes, others] = [one, other].map((name) => new TextEncoder().encode(name))
  if (!bytes || !others) return false
  const differs = bytes.findIndex((byte, index) => byte !== others[index])
  return differs < 0
    ? bytes.length < others.length
    : (bytes[differs] ?? 0) < (others[differs] ?? -1)
}

/** The customer's usage, as the server reports it. */
function createUsage(client: Client): Pick<FileList, 'usage' | 'refreshUsage'> {
  const usage = signal<Usage | undefined>(undefined)
  return {
    usage,
    refreshUsage() {
      client.usage().then(
        (known) => (usage.value = known),
        () => {
          // The last report is the best that is known.
        },
      )
    },
  }
}

/** Passes on together all that arrives within a quarter of a second: a thousand small files are stored quickly. */
export function collectBriefly<Item>(take: (items: readonly Item[]) => void) {
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

const folded = new WeakMap<ViewedFile, string>()

/** The files whose names contain every word of `text`, ignoring case and accents. A word with `*` or `?` is a pattern for the whole name, such as `*.pdf`. */
export function filterFiles(files: readonly ViewedFile[], text: string): readonly ViewedFile[] {
  const words = fold(text).split(/\s+/).filter(Boolean).map(matcherOf)
  if (words.length === 0) return files
  return files.filter((file) => {
    const name = foldedName(file)
    return words.every((matches) => matches(name))
  })
}

/** Whether a name contains `word`, or matches it as a pattern: `*` stands for any characters, `?` for one. */
function matcherOf(word: string): (name: string) => boolean {
  if (!/[*?]/.test(word)) return (name) => name.includes(word)
  // Between two stars the first place is as good as a later one, so that no text takes long.
  const [first = '', ...parts] = word
    .split(/\*+/)
    .map((part) => part.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('?', '.'))
  const end = parts.pop()
  if (end === undefined) return (name) => new RegExp(`^${first}$`, 'su').test(name)
  const start = new RegExp(`^${first}`, 'su')
  const middle = parts.map((part) => new RegExp(part, 'su'))
  const last = new RegExp(`${end}$`, 'su')
  return (name) => {
    const begun = start.exec(name)
    if (!begun) return false
    let rest = name.slice(begun[0].length)
    for (const part of middle) {
      const found = part.exec(rest)
      if (!found) return false
      rest = rest.slice(found.index + found[0].length)
    }
    return last.test(rest)
  }
}

/** Filters as `filterFiles` does. If a text continues the last one, searches only the last result. */
export function createFilter(): typeof filterFiles {
  let last: {
    readonly files: readonly ViewedFile[]
    text: string
    found: readonly ViewedFile[]
  } = {
    files: [],
    text: '',
    found: [],
  }
  return (files, text) => {
    // A pattern that is longer may match more.
    const goesOn = files === last.files && text.startsWith(last.text) && !/[*?]/.test(text)
    last = { files, text, found: filterFiles(goesOn ? last.found : files, text) }
    return last.found
  }
}

/** Prepares the names, so that the first letter is found as fast as the others. */
export function prepareFilter(files: readonly ViewedFile[]): void {
  files.forEach(foldedName)
}

/** Cached, since each typed letter searches all names. */
function foldedName(file: ViewedFile): string {
  const known = folded.get(file)
  if (known !== undefined) return known
  const name = fold(file.name)
  folded.set(file, name)
  return name
}

function fold(text: string): string {
  // Most names need only their case folded.
  if (/^[\u0020-\u007e]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
}

export type Column = 'name' | 'size' | 'modified' | 'type'

export interface Order {
  readonly column: Column
  readonly isDescending: boolean
}

type Compare = (one: ViewedFile, other: ViewedFile) => number

/** `files` in `order`; equal ones by name. Fast if most of them are in order already. */
export function sortFiles(
  files: readonly ViewedFile[],
  order: Order,
  language: string,
): ViewedFile[] {
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

/** The order after a click on the head of `column`: new and large files first, names from A. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.column === column) return { column, isDescending: !order.isDescending }
  return { column, isDescending: column === 'size' || column === 'modified' }
}
