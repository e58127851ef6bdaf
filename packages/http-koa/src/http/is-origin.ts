/** Whether `text` is an origin of HTTP or HTTPS as a browser writes it (RFC 6454 §6.2), or `*`, which means all origins. */
export function isOrigin(text: string): boolean {
  if (text === '*') return true
  return URL.canParse(text) && new URL(text).origin === text && /^https?:[^*]+$/u.test(text)
}
