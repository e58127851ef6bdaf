import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of live objects, and of buffers outside the heap, after the garbage has been collected. */
export function memoryInUse(): number {
  setFlagsFromString('--expose-gc')
  // One collection finds dead buffers, the next one stops counting them.
  for (let round = 0; round < 2; round++) runInNewContext('gc()')
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
