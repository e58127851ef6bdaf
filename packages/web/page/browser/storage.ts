/** What the page uses of a browser's storage. */
export interface PageStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** The storage that `of` gives, or one that lasts as long as the page, where its user lets sites keep nothing. */
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

/** What stays in the browser from visit to visit. Never a password. */
type Setting = 'language' | 'theme' | 'sort'

/** `undefined` where it was not set, or the browser keeps nothing. */
export function readSetting(name: Setting): string | undefined {
  try {
    return localStorage.getItem(`holdfast:${name}`) ?? undefined
  } catch {
    return undefined
  }
}

export function writeSetting(name: Setting, value: string): void {
  try {
    localStorage.setItem(`holdfast:${name}`, value)
  } catch {
    // The setting lasts as long as the page.
  }
}
