/** Work on an item that has begun. Neither promise rejects. */
export interface StartedWork<Result> {
  /** Resolves when the next item may be asked for. */
  readonly taken: Promise<unknown>
  readonly result: Promise<Result>
}

/**
 * What `begin` makes of each of `items`, in their order and as soon as it is there, together with what is there of those
 * that follow. At most `limit` of them wait or are worked on at a time. Where `items` fail, so does this, behind the
 * results of what came before.
 */
export async function* orderedConcurrentMap<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  begin: (item: Item) => StartedWork<Result>,
): AsyncGenerator<readonly Result[], undefined> {
  const underWay: Slot<Result>[] = []
  const news = createNews()
  const state = { isOver: false, isLeft: false }

  const takeAll = async () => {
    for await (const item of items) {
      const { taken, result } = begin(item)
      const slot: Slot<Result> = {}
      underWay.push(slot)
      void result.then((value) => {
        slot.ended = { value }
        news.tell()
      })
      await taken
      while (underWay.length >= limit && !state.isLeft) await news.next()
      if (state.isLeft) return
    }
  }

  const taking = takeAll().finally(() => {
    state.isOver = true
    news.tell()
  })
  // It is looked at when the results before have been.
  taking.catch(() => {})
  try {
    while (!state.isOver || underWay.length > 0) {
      const ready = takeReady(underWay)
      if (ready.length === 0) await news.next()
      else {
        news.tell()
        yield ready
      }
    }
    await taking
  } finally {
    state.isLeft = true
    news.tell()
  }
}

/** A place in the line of results. */
interface Slot<Result> {
  ended?: { readonly value: Result }
}

/** Removes the results at the front of `slots` that are there. */
function takeReady<Result>(slots: Slot<Result>[]): readonly Result[] {
  const ready: Result[] = []
  for (let first = slots[0]; first?.ended; first = slots[0]) {
    ready.push(first.ended.value)
    slots.shift()
  }
  return ready
}

/** Lets several wait for the next thing that happens. */
function createNews() {
  let { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    next: () => promise,
    tell: () => {
      resolve(undefined)
      ;({ promise, resolve } = Promise.withResolvers<undefined>())
    },
  }
}
