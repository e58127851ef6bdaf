import { requireText } from '@holdfast/core'

/**
 * Refuses what no path of a request begins with: `what` is an option such as `prefix`.
 *
 * @throws TypeError for another type, RangeError for text that has no slash at its beginning, or one at its end
 */
export function requirePath(what: string, value: unknown): void {
  requireText(what, value)
  const text = String(value)
  if (text === '' || /^\/.*[^/]$/s.test(text)) return
  throw new RangeError(
    `${what} must begin with a slash and not end with one, such as "/files", not ${JSON.stringify(text)}`,
  )
}
