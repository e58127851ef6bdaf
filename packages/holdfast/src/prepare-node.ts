import { mkdirSync, statSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 use less memory if `command` transfers content. Blocks of content are outside V8's heap, where tens of MiB of them pile up
 * before it collects them. Call it first: V8 keeps the space that it has made for young objects.
 */
export function spareMemory(command: string | undefined): void {
  if (command !== 'get' && command !== 'put') return
  // The space for young objects keeps its first size: it is full sooner, and the blocks that its objects hold are freed sooner.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--single-threaded-gc')
  // V8 lets old objects grow by less before it collects them: 15 MiB less for 10,000 files.
  setFlagsFromString('--optimize-for-size')
  // The optimizing compiler takes 10 MiB, and gains nothing while a disk or a network is the limit.
  setFlagsFromString('--no-opt')
}

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
