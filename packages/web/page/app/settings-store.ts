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
