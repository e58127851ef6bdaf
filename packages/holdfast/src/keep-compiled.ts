import { mkdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Makes Node keep the code that it compiles from now on for later runs, in `.cache` in the directory `program`. Node runs what is in
 * there, so only this user may write to it. If another user owns the program, or the directory cannot be written, nothing is kept.
 */
export function keepCompiled(program: URL): void {
  try {
    if (statSync(program).uid !== (process.getuid?.() ?? 0)) return
    const cache = fileURLToPath(new URL('.cache', program))
    mkdirSync(cache, { recursive: true, mode: 0o700 })
    module.enableCompileCache(cache)
  } catch {
    // The cache only saves time, and Node.js 22.0 has none.
  }
}
