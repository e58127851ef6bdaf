import { batch, computed, signal } from '@preact/signals'
import type { DeletedFile } from '@holdfast/client/browser'
import type { Connection, ViewedFile } from '../api/connection.ts'
import { language } from '../i18n/language.ts'
import {
  collectBriefly,
  type ListedFiles,
  type ListStatus,
  type RenamedFile,
} from '../list/file-list-state.ts'
import { createFilter, prepareFilter, sortFiles, type Order } from '../list/filter-and-sort.ts'

/** The deleted files that can be restored; `modified` is when each was deleted. */
export interface DeletedList extends ListedFiles {
  /** Records that a name has a file again, or is not kept any more. */
  readonly remove: (name: string) => void
  /** Ends the load, and forgets the files. */
  close(): void
}

/** The list is empty until it is loaded. */
export function createDeletedList({ client }: Connection): DeletedList {
  const loaded = signal<readonly ViewedFile[]>([])
  const status = signal<ListStatus>('loading')
  const filter = signal('')
  const order = signal<Order>({ column: 'modified', isDescending: true })
  const selected = signal<ReadonlySet<string>>(new Set())
  const all = computed(() => sortFiles(loaded.value, order.value, language.value))
  const applyFilter = createFilter()
  let loading = new AbortController()
  /** The names that were removed since the last load began, which the load may have read before. */
  const removed = new Set<string>()
  const listed = (files: readonly ViewedFile[]) => files.filter(({ name }) => !removed.has(name))

  const removeSoon = collectBriefly<string>((names) => {
    const gone = new Set(names)
    batch(() => {
      loaded.value = loaded.value.filter(({ name }) => !gone.has(name))
      selected.value = new Set([...selected.value].filter((name) => !gone.has(name)))
    })
  })

  return {
    all,
    folder: signal(''),
    inFolder: all,
    visible: computed(() => applyFilter(all.value, filter.value)),
    filter,
    order,
    status,
    selected,
    renamed: signal<RenamedFile | undefined>(undefined),
    remove(name) {
      removed.add(name)
      removeSoon(name)
    },
    async load() {
      loading.abort()
      loading = new AbortController()
      const { signal: ended } = loading
      removeSoon.now()
      removed.clear()
      status.value = 'loading'
      const files: ViewedFile[] = []
      try {
        for await (const file of client.deleted({ signal: ended })) {
          if (ended.aborted) return
          files.push(viewed(file))
          // Sorting takes time, so it is repeated only when the number has doubled.
          if (files.length >= Math.max(1000, 2 * loaded.value.length)) loaded.value = listed(files)
        }
        prepareFilter(files)
        batch(() => {
          loaded.value = listed(files)
          const names = new Set(loaded.value.map(({ name }) => name))
          selected.value = new Set([...selected.value].filter((name) => names.has(name)))
          status.value = 'complete'
        })
      } catch (error) {
        if (!ended.aborted) status.value = { error }
      }
    },
    close() {
      loading.abort()
      batch(() => {
        loaded.value = []
        selected.value = new Set()
        filter.value = ''
        status.value = 'loading'
      })
    },
  }
}

function viewed({ name, version, size, deleted, type }: DeletedFile): ViewedFile {
  // The content of a version never changes.
  return { name, version, size, modified: deleted, type, etag: version }
}
