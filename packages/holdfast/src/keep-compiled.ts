import { mkdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Has Node keep what it compiles from now on for later runs, in `.cache` below the directory `program`. What lies there
 * is run, so the program has to be this user's own, and nobody else gets at the cache. Where the program is somebody else's,
 * or cannot be written to, nothing happens.
 */
export function keepCompiled(program: URL): void {
  try {
    if (statSync(program).uid !== (process.getuid?.() ?? 0)) return
    const cache = fileURLToPath(new URL('.cache', program))
    mkdirSync(cache, { recursive: true, mode: 0o700 })
    module.enableCompileCache(cache)
  } catch {
    // It only saves time, and Node.js 22.0 does not know it.
  }
}
