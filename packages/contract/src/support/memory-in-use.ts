import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of live JavaScript objects and of buffers outside the heap, right after the garbage was collected. */
export function memoryInUse(): number {
  // Buffers found dead by one collection are swept aside from it and only counted out by the next.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  // Bun counts buffers in both.
  return 'bun' in process.versions ? heapUsed : heapUsed + external
}

// Without collecting, garbage that V8 has not looked at yet would be taken for memory in use.
function collectGarbage(): void {
  // Bun and Deno have it when they are started with --expose-gc; Node.js takes the flag later, too.
  if (globalThis.gc === undefined) setFlagsFromString('--expose-gc')
  const gc: unknown = globalThis.gc ?? runInNewContext('gc')
  if (typeof gc === 'function') Reflect.apply(gc, undefined, [])
}
