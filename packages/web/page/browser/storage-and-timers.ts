/** The methods of a browser's storage that the page uses. */
export interface PageStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** The storage that `of` returns; if the user lets sites store nothing, one that lasts as long as the page. */
export function openStorage(of: () => PageStorage): PageStorage {
  try {
    const storage = of()
    storage.getItem('')
    return storage
  } catch {
    return memoryStorage()
  }
}

function memoryStorage(): PageStorage {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

/** Locks that the tabs of the page share. When a tab ends, the browser releases its locks. */
export interface TabLocks {
  /** Takes a lock unless another tab holds it; resolves with whether this tab holds it now. */
  take(name: string): Promise<boolean>
  release(name: string): void
  /** Which locks other tabs hold. */
  heldElsewhere(): Promise<ReadonlySet<string>>
  /** Resolves when no tab holds the lock any more. */
  whenFree(name: string): Promise<unknown>
}

/** What {@link createTabLocks} uses of the browser's Web Locks. */
interface LockManager {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly mode?: 'shared' },
    hold: (lock: object | null) => unknown,
  ): Promise<unknown>
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>
}

/** The locks of this tab. Browsers have none on pages that came by HTTP: there every tab gets every lock. */
export function createTabLocks({ locks }: { readonly locks?: LockManager } = navigator): TabLocks {
  const own = new Map<string, { readonly taken: Promise<boolean>; readonly release: () => void }>()
  return {
    take(name) {
      const known = own.get(name)
      if (known || !locks) return known?.taken ?? Promise.resolve(true)
      const { promise: released, resolve } = Promise.withResolvers<undefined>()
      const taken = new Promise<boolean>((settle) => {
        const hold = (lock: object | null) => {
          if (lock === null) own.delete(name)
          settle(lock !== null)
          return lock && released
        }
        locks.request(name, { ifAvailable: true }, hold).catch(() => settle(true))
      })
      own.set(name, { taken, release: () => resolve(undefined) })
      return taken
    },
    release(name) {
      own.get(name)?.release()
      own.delete(name)
    },
    async heldElsewhere() {
      const { held = [] } = (await locks?.query().catch(() => undefined)) ?? {}
      return new Set(held.map(({ name = '' }) => name).filter((name) => !own.has(name)))
    },
    whenFree: async (name) => locks?.request(name, { mode: 'shared' }, () => {}),
  }
}

/** Settings that stay in the browser between visits. Never a password. */
type Setting = 'language' | 'theme' | 'sort' | 'folders' | 'view' | 'details' | 'keep'

/** `undefined` if it was not set, or the browser stores nothing. */
export function readSetting(name: Setting): string | undefined {
  try {
    return localStorage.getItem(`holdfast:${name}`) ?? undefined
  } catch {
    return undefined
  }
}

/** Sets a setting; `undefined` removes it. */
export function writeSetting(name: Setting, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`holdfast:${name}`)
    else localStorage.setItem(`holdfast:${name}`, value)
  } catch {
    // Then the setting lasts as long as the page.
  }
}

/** Calls `run` after `ms` milliseconds; returns a function that prevents that. */
export type AfterTime = (ms: number, run: () => void) => () => void

export const afterTime: AfterTime = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
