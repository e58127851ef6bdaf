import { setImmediate } from 'node:timers/promises'
import { compareUtf8, type ListOptions } from '@holdfast/core'
import { createNameSorter } from './name-sorter.ts'
import { stoppable } from './stoppable.ts'
import type { Blobs } from './walk-blobs.ts'

/** Given without a pause; a reader takes a millisecond or two for so many. */
const namesPerTurn = 1024

/**
 * The names of the blobs that `walk` brings, each once, in ascending order of their UTF-8 bytes, cut as `options` say.
 * All names are found before the first is given; a reader who stops meanwhile ends that.
 * Other work of the process goes on all the while.
 */
export function listNames(
  walk: <T>(use: (blobs: Blobs) => Promise<T>) => Promise<T>,
  options: ListOptions = {},
): AsyncIterable<string> {
  return stoppable(async function* (signal) {
    let given = 0
    const names = await walk((blobs) => select(blobs, options, signal))
    for (const name of names) {
      // A fast reader would keep the process from everything else until the end of the list.
      if (++given % namesPerTurn === 0) await setImmediate()
      yield name
    }
  })
}

async function select(
  blobs: Blobs,
  { prefix = '', after = '', limit = Infinity }: ListOptions,
  signal: AbortSignal,
): Promise<Iterable<string>> {
  const sorter = createNameSorter(limit)
  for await (const batch of blobs) {
    if (signal.aborted) return []
    for (const { name } of batch) {
      if (name.startsWith(prefix) && compareUtf8(name, after) > 0) sorter.add(name)
    }
  }
  return sorter.sorted()
}
