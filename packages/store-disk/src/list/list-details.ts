import type { BlobInfo, ListOptions } from '@holdfast/core'
import { abortOnReturn } from './abort-on-return.ts'

/** Files looked at at a time: enough to keep the disk busy, and little of what other requests need. */
const concurrency = 16

export interface DetailSources {
  readonly list: (options: ListOptions) => AsyncIterable<readonly string[]>
  /** What is known of a blob; `undefined` if it is gone. */
  readonly stat: (name: string) => Promise<BlobInfo | undefined>
}

/**
 * The blobs that `list` names, in its pages, each from one look at its file. Where blobs are gone by then, it lists
 * further names, up to the limit.
 */
export function listDetails(
  { list, stat }: DetailSources,
  { prefix = '', after = '', limit = Infinity }: ListOptions = {},
): AsyncIterable<readonly BlobInfo[]> {
  return abortOnReturn(async function* (signal) {
    let last = after
    let left = limit
    let isComplete = false
    while (left > 0 && !isComplete) {
      const asked = left
      let listed = 0
      const cut = left === Infinity ? {} : { limit: left }
      for await (const names of stoppable(list({ prefix, after: last, ...cut }), signal)) {
        const page = await lookAtAll(names, stat)
        if (signal.aborted) return
        if (page.length > 0) yield page
        last = names.at(-1) ?? last
        listed += names.length
        left -= page.length
      }
      isComplete = listed < asked
    }
  })
}

/** `pages`, whose iteration is stopped as soon as `signal` aborts, also while a page is awaited. */
function stoppable<T>(pages: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pages[Symbol.asyncIterator]()
      signal.addEventListener('abort', () => void iterator.return?.(), { once: true })
      return iterator
    },
  }
}

async function lookAtAll(
  names: readonly string[],
  stat: DetailSources['stat'],
): Promise<readonly BlobInfo[]> {
  const found: (BlobInfo | undefined)[] = []
  const rest = names.entries()
  const look = async () => {
    for (const [at, name] of rest) found[at] = await stat(name)
  }
  await Promise.all(Array.from({ length: concurrency }, look))
  return found.filter((info) => info !== undefined)
}
