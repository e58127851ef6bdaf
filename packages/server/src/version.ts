import { readFileSync } from 'node:fs'

/** The version of this package. Its file is at the top, since what is built lies in `dist` itself: the manifest is beside both folders. */
export function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  return (manifest as { version: string }).version
}
