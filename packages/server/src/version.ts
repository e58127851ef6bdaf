import { readFileSync } from 'node:fs'

/** The version of this package. This file is at the top of `src`, so that `../package.json` is right in `src` and in `dist`. */
export function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  return (manifest as { version: string }).version
}
