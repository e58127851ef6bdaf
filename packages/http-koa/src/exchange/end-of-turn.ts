/** How many responses are sent together at most: while they wait, all that belongs to their requests stays in memory. */
const mostTogether = 32

interface Turn {
  readonly ended: Promise<undefined>
  readonly end: () => void
  waiting: number
}

let turn: Turn | undefined

/**
 * Resolves at the end of this turn of the event loop, after all bytes that have arrived were processed, or as soon as many
 * responses wait for it. They are sent together. A response that is sent alone wakes up a sleeping client or proxy, which
 * costs the system more than the rest of a small response. But with thousands of connections a turn has a thousand requests,
 * which would outlive runs of the garbage collector and leave the processor's caches.
 */
export function endOfTurn(): Promise<undefined> {
  turn ??= begin()
  const { ended, end } = turn
  turn.waiting++
  if (turn.waiting === mostTogether) end()
  return ended
}

function begin(): Turn {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const begun: Turn = {
    ended: promise,
    end: () => {
      if (turn === begun) turn = undefined
      resolve(undefined)
    },
    waiting: 0,
  }
  setImmediate(begun.end)
  return begun
}
