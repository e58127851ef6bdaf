import { compareUtf8 } from '@holdfast/core'

interface Named {
  readonly name: string
}

/** The entries of several lists with one name; `undefined` for a list without it. */
export interface MergedName<Lists extends readonly Named[]> {
  readonly name: string
  readonly found: { readonly [List in keyof Lists]: Lists[List] | undefined }
}

type Iterables<Lists extends readonly Named[]> = {
  readonly [List in keyof Lists]: AsyncIterable<Lists[List]>
}

/**
 * Merges lists that are each in ascending order of the UTF-8 bytes of their names. If a list repeats a name, so does the result. Holds one
 * entry of each list, and closes all lists however it ends.
 */
export async function* mergeByName<const Lists extends readonly Named[]>(
  lists: Iterables<Lists>,
): AsyncGenerator<MergedName<Lists>, void> {
  const iterators = lists.map((list) => list[Symbol.asyncIterator]())
  const next = async (iterator: AsyncIterator<Named>): Promise<Named | undefined> => {
    const step = await iterator.next()
    return step.done === true ? undefined : step.value
  }
  try {
    let heads = await Promise.all(iterators.map(next))
    while (true) {
      const name = leastName(heads)
      if (name === undefined) return
      const found = heads.map((head) => (head?.name === name ? head : undefined))
      yield { name, found: found as MergedName<Lists>['found'] }
      heads = await Promise.all(
        iterators.map(async (iterator, at) => (found[at] ? next(iterator) : heads[at])),
      )
    }
  } finally {
    await Promise.allSettled(iterators.map(async (iterator) => iterator.return?.()))
  }
}

function leastName(heads: readonly (Named | undefined)[]): string | undefined {
  let least: string | undefined
  for (const head of heads) {
    if (head && (least === undefined || compareUtf8(head.name, least) < 0)) least = head.name
  }
  return least
}
