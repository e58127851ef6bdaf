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
