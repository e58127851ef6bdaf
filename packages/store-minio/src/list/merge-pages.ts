/** Entries in a page of what is merged. */
const pageLength = 1000

/** A source of pages, at an entry of its page; at the end of the source the page is `undefined`. */
interface Source<T> {
  readonly iterator: AsyncIterator<readonly T[]>
  page: readonly T[] | undefined
}

/**
 * The entries of all sorted `sources`, in order, in pages of up to a thousand that are not empty. Asks each source for one
 * page in advance, and closes all at the end.
 */
export async function* mergePages<T>(
  sources: readonly AsyncIterable<readonly T[]>[],
  compare: (a: T, b: T) => number,
): AsyncGenerator<readonly T[]> {
  const all: Source<T>[] = sources.map((source) => ({
    iterator: source[Symbol.asyncIterator](),
    page: [],
  }))
  try {
    for (;;) {
      await Promise.all(all.map(refill))
      const merged = takeSettled(all, compare)
      if (merged.length === 0) return
      for (let at = 0; at < merged.length; at += pageLength) {
        yield merged.slice(at, at + pageLength)
      }
    }
  } finally {
    await Promise.all(all.map(async ({ iterator }) => iterator.return?.()))
  }
}

/** Fetches the next page that is not empty if the present one is. */
async function refill<T>(source: Source<T>): Promise<void> {
  while (source.page?.length === 0) {
    const next = await source.iterator.next()
    source.page = next.done === true ? undefined : next.value
  }
}

/** Takes what no page to come can precede: all up to the end of the page that ends first. */
function takeSettled<T>(sources: readonly Source<T>[], compare: (a: T, b: T) => number): T[] {
  const ends = sources.flatMap(({ page }) => page?.at(-1) ?? [])
  const [end] = ends.sort(compare)
  if (end === undefined) return []
  const taken: T[] = []
  for (const source of sources) {
    const page = source.page ?? []
    const later = page.findIndex((entry) => compare(entry, end) > 0)
    const settled = later === -1 ? page.length : later
    taken.push(...page.slice(0, settled))
    source.page = source.page?.slice(settled)
  }
  return taken.sort(compare)
}
