import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import {
  isHoldfastError,
  type Client,
  type FileDetails,
  type Usage,
} from '@holdfast/client/browser'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { readSetting, writeSetting } from '../browser/storage-and-timers.ts'
import { language } from '../i18n/language.ts'
import { createFilter, prepareFilter, sortFiles, type Order } from './filter-and-sort.ts'
import { entriesOf, filesBelow, withoutFiles } from './folders.ts'

/** The first page arrives soon, and the others are few. */
const pageSizes = [1000, 10_000]

/** The most names that are loaded without being asked for: more would make the page slow. */
const mostLoaded = 200_000

/** `cut`: more names are not loaded, since there are too many. `hidden`: the login may not list. */
export type ListStatus = 'loading' | 'complete' | 'cut' | 'hidden' | { readonly error: unknown }

/** A list that is sorted, filtered and selected from. */
export interface ListedFiles {
  /** All loaded files that are not hidden, in order. */
  readonly all: ReadonlySignal<readonly ViewedFile[]>
  /** The prefix of the open folder; '' if none is open. */
  readonly folder: ReadonlySignal<string>
  /** The files below the open folder. */
  readonly inFolder: ReadonlySignal<readonly ViewedFile[]>
  /** The entries of the open folder; with a filter, all files below it that match. */
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
  /** Whether files are shown in folders, by the ` - ` in their names. The browser keeps it. */
  readonly areFolders: Signal<boolean>
  /** Opens the folder with this prefix; '' closes it. */
  openFolder(prefix: string): void
  /** Loads what is missing of a folder; resolves when all of its files are in the list. @throws HoldfastError */
  loadFolder(prefix: string): Promise<void>
  /** Loads the list again after that has failed. The error stays until it succeeds. */
  retry(): Promise<void>
  /** Whether names of the open folder are missing in the list, and nothing loads them. */
  readonly isCut: ReadonlySignal<boolean>
  /** Loads the names that are missing since there are too many. */
  loadRest(): Promise<void>
  readonly usage: ReadonlySignal<Usage | undefined>
  readonly refreshUsage: () => void
  /** Whether the list has a file of that name. */
  readonly has: (name: string) => boolean
  /** Records a file that has been stored. */
  readonly add: (file: FileDetails) => void
  /** Says that the page itself is about to store a file under this name, so that its arrival is no news. */
  expect(name: string): void
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

export function createFileList({ client }: Connection, most = mostLoaded): FileList {
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
  const areFolders = signal(readSetting('folders') !== 'off')
  const opened = signal('')
  const folder = computed(() => (areFolders.value ? opened.value : ''))
  const inFolder = computed(() => filesBelow(all.value, folder.value))
  const visible = computed(() => {
    if (!areFolders.value || filter.value.trim() !== '') {
      return applyFilter(inFolder.value, filter.value, folder.value)
    }
    const { folders, files } = entriesOf(inFolder.value, folder.value)
    return [...sortFiles(folders, order.value, language.value), ...files]
  })
  let loading = new AbortController()
  /** What the list that is being loaded has so far. */
  let listed: readonly FileDetails[] = []
  /** The files of folders that were loaded before the list came to them, by the folder's prefix. */
  const ofFolders = signal<ReadonlyMap<string, readonly FileDetails[]>>(new Map())
  const isLoaded = (prefix: string) =>
    status.value === 'complete' ||
    [...ofFolders.value.keys()].some((each) => prefix.startsWith(each))
  const isCut = computed(() => status.value === 'cut' && !isLoaded(folder.value))
  const inView = signal<readonly [number, number]>([0, 0])
  /** Names that have changed here while a part of the list was asked for again. */
  const changedMeanwhile = new Set<string>()
  const expected = new Set<string>()
  /** Changes since the last load began, which the load may have missed. */
  const changes = new Map<Change[0], Change[1]>()

  /** The list so far, the folders that were loaded before, and the changes since. */
  function current(): readonly FileDetails[] {
    if (ofFolders.value.size === 0) return withChanges(listed)
    const names = new Set(listed.map(({ name }) => name))
    const found = new Map([...ofFolders.value.values()].flat().map((file) => [file.name, file]))
    return withChanges([...listed, ...[...found.values()].filter(({ name }) => !names.has(name))])
  }

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

  /** Reads on in the list, up to so many names. */
  async function read(limit: number): Promise<void> {
    const { signal: ended } = loading
    const after = listed.at(-1)?.name
    const files = [...listed]
    try {
      const pages = client.listPages({ pageSizes, signal: ended, ...(after && { after }) })
      let isEnd = true
      for await (const page of pages) {
        if (ended.aborted) return
        prepareFilter(page)
        files.push(...page)
        listed = files
        // Sorting takes time, so it is repeated only when the number has doubled.
        if (files.length >= 2 * loaded.value.length) loaded.value = current()
        isEnd = files.length < limit
        if (!isEnd) break
      }
      batch(() => {
        status.value = isEnd ? 'complete' : 'cut'
        if (isEnd) ofFolders.value = new Map()
        loaded.value = current()
      })
    } catch (error) {
      if (ended.aborted) return
      status.value = isHoldfastError(error, 'not-allowed') ? 'hidden' : { error }
    }
  }

  async function readAnew(): Promise<void> {
    loading.abort()
    loading = new AbortController()
    // The list that is being loaded will contain these changes.
    applySoon.now()
    changes.clear()
    listed = []
    ofFolders.value = new Map()
    refreshUsage()
    const reading = read(most)
    const prefix = folder.value
    if (prefix !== '') void loadFolder(prefix).catch(() => {})
    await reading
  }

  async function loadFolder(prefix: string): Promise<void> {
    if (isLoaded(prefix)) return
    const { signal: ended } = loading
    const files: FileDetails[] = []
    try {
      for await (const page of client.listPages({ prefix, pageSizes, signal: ended })) {
        prepareFilter(page)
        files.push(...page)
      }
      ended.throwIfAborted()
    } catch (error) {
      // The list is loaded anew, and what was loaded of the folder may be old.
      if (ended !== loading.signal) return loadFolder(prefix)
      throw error
    }
    if (status.value === 'complete') return
    batch(() => {
      ofFolders.value = new Map([...ofFolders.value, [prefix, files]])
      const others = loaded.value.filter(({ name }) => !name.startsWith(prefix))
      loaded.value = withChanges([...others, ...files])
    })
  }

  areFolders.subscribe((value) => writeSetting('folders', value ? undefined : 'off'))

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
    areFolders,
    folder,
    inFolder,
    isCut,
    openFolder(prefix) {
      if (prefix === opened.value) return
      batch(() => {
        opened.value = prefix
        selected.value = new Set()
      })
      // The list says why it cannot be loaded.
      if (prefix !== '') void loadFolder(prefix).catch(() => {})
    },
    loadFolder,
    load() {
      status.value = 'loading'
      return readAnew()
    },
    retry: readAnew,
    loadRest() {
      status.value = 'loading'
      return read(Infinity)
    },
    expect: (name) => void expected.add(name),
    hide(names) {
      batch(() => {
        hidden.value = new Set([...hidden.value, ...names])
        selected.value = withoutFiles(selected.value, names)
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
      // A folder stands for the names below it.
      const shown = visible
        .peek()
        .slice(first, end)
        .map(({ name, folder }) => folder?.prefix ?? name)
      const least = shown.reduce(
        (name, other) => (isBefore(other, name) ? other : name),
        shown[0] ?? '',
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
      // A hidden file is being deleted; a change would show it again.
      const isCurrent = (name: string) => !changedMeanwhile.has(name) && !hidden.peek().has(name)
      const fresh = changed.filter(({ name }) => isCurrent(name))
      const removed = gone.filter(isCurrent)
      for (const file of fresh) applySoon([file.name, file])
      for (const name of removed) applySoon([name, undefined])
      applySoon.now()
      const added = fresh
        .map(({ name }) => name)
        .filter((name) => !known.has(name) && !expected.has(name))
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
