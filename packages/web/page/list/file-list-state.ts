import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Connection } from '../api/connection.ts'
import type { FileEntry } from '../api/file-entry.ts'
import { listFiles } from '../api/list-files.ts'
import { readUsage, type Usage } from '../api/usage.ts'
import { language } from '../i18n/language.ts'
import { filterFiles } from './filter-files.ts'
import { sortFiles, type Order } from './sort-files.ts'

export type ListStatus = 'loading' | 'complete' | { readonly error: unknown }

/** What the list shows, and what changes it. */
export interface FileList {
  /** All that has been loaded and is not hidden, in order. */
  readonly all: ReadonlySignal<readonly FileEntry[]>
  /** Those that the filter leaves. */
  readonly visible: ReadonlySignal<readonly FileEntry[]>
  readonly filter: Signal<string>
  readonly order: Signal<Order>
  readonly status: ReadonlySignal<ListStatus>
  readonly usage: ReadonlySignal<Usage | undefined>
  readonly selected: Signal<ReadonlySet<string>>
  load(): Promise<void>
  refreshUsage(): void
  /** Notes a file that has been stored. */
  readonly add: (file: FileEntry) => void
  /** Takes names out of the list; `show` brings them back. */
  hide(names: readonly string[]): void
  show(names: readonly string[]): void
}

export function createFileList(connection: Connection): FileList {
  const loaded = signal<readonly FileEntry[]>([])
  const hidden = signal<ReadonlySet<string>>(new Set())
  const status = signal<ListStatus>('loading')
  const usage = signal<Usage | undefined>(undefined)
  const filter = signal('')
  const order = signal<Order>({ column: 'name', isDescending: false })
  const selected = signal<ReadonlySet<string>>(new Set())
  const sorted = computed(() => sortFiles(loaded.value, order.value, language.value))
  const all = computed(() => {
    const left = hidden.value
    return left.size === 0 ? sorted.value : sorted.value.filter(({ name }) => !left.has(name))
  })
  const visible = computed(() => filterFiles(all.value, filter.value))
  let loading = new AbortController()

  const add = gathering<FileEntry>((stored) => {
    const names = new Set(stored.map(({ name }) => name))
    // In order but for the new ones, which makes sorting quick.
    const others = sorted.peek().filter(({ name }) => !names.has(name))
    batch(() => {
      loaded.value = [...others, ...new Map(stored.map((file) => [file.name, file])).values()]
      hidden.value = new Set([...hidden.value].filter((name) => !names.has(name)))
    })
  })
  const refreshUsage = () =>
    void readUsage(connection).then(
      (known) => (usage.value = known),
      () => {},
    )

  return {
    all,
    visible,
    filter,
    order,
    status,
    usage,
    selected,
    add,
    refreshUsage,
    async load() {
      loading.abort()
      loading = new AbortController()
      const { signal: ended } = loading
      status.value = 'loading'
      refreshUsage()
      const files: FileEntry[] = []
      try {
        for await (const page of listFiles(connection, ended)) {
          files.push(...page)
          // Sorting anew takes time, so it is done each time that there are twice as many.
          if (files.length >= 2 * loaded.value.length) loaded.value = [...files]
        }
        batch(() => {
          loaded.value = files
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
  }
}

/** Hands on what comes within a quarter of a second at once: a thousand small files are stored quickly. */
function gathering<Item>(take: (items: readonly Item[]) => void): (item: Item) => void {
  let gathered: Item[] = []
  return (item) => {
    gathered.push(item)
    if (gathered.length > 1) return
    setTimeout(() => {
      const items = gathered
      gathered = []
      take(items)
    }, 250)
  }
}
