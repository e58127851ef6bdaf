let turn: Promise<undefined> | undefined

/**
 * Resolves at the end of this turn of the event loop, after all bytes that have arrived were processed. Responses that wait
 * for it are sent together. A response that is sent alone wakes up a sleeping client or proxy, which costs the system more
 * than the rest of a small response.
 */
export function endOfTurn(): Promise<undefined> {
  return (turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve(undefined)
    })
  }))
}
