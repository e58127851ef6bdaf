import { setImmediate } from 'node:timers/promises'
import type { ListOptions } from '@holdfast/core'
import { abortOnReturn } from './abort-on-return.ts'
import { findNames, type NameSource } from './find-sorted-names.ts'

/**
 * The names of the blobs in `source`, each once, in ascending order of their UTF-8 bytes, cut as `options` say, in pages.
 * Names are found before the first is given, all of them as far as they may be held; a reader who stops meanwhile ends
 * that. Where names are dropped, by want of memory or a slow reader, another walk finds those after the last given. Where
 * names are kept, there is no walk. Other work of the process goes on all the while.
 */
export function listNames(
  source: NameSource,
  { prefix = '', after = '', limit = Infinity }: ListOptions = {},
): AsyncIterable<readonly string[]> {
  return abortOnReturn(async function* (signal) {
    const held = source.budget.open()
    try {
      let rest = { prefix, after, limit }
      let take = await source.kept.open(rest)
      while (!signal.aborted) {
        const page = take?.(rest)
        if (!page) {
          take = await findNames(source, rest, held, signal)
          continue
        }
        const last = page.names.at(-1)
        if (last !== undefined) {
          rest = { ...rest, after: last, limit: rest.limit - page.names.length }
          yield page.names
        }
        if (page.isComplete || rest.limit === 0) return
        // A fast reader would keep the process from everything else until the end of the list.
        await setImmediate()
      }
    } finally {
      held.release()
    }
  })
}
