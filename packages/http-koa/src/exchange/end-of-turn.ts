let turn: Promise<undefined> | undefined

/**
 * Resolves when whatever has arrived by now has been looked at, at the end of this turn of the event loop. Answers that
 * wait for it go out together: each that goes out alone wakes up a client, or a proxy, that has gone to sleep since the
 * last one, which takes the system longer than all the rest of a small answer.
 */
export function endOfTurn(): Promise<undefined> {
  return (turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve(undefined)
    })
  }))
}
