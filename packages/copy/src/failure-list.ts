import { isFileServiceError } from '@holdfast/core'

/** A file that could not be copied, or a customer whose files could not be listed. */
export interface CopyFailure {
  readonly customer: string
  /** `undefined` where it is the list. */
  readonly name: string | undefined
  readonly reason: string
}

/** What failed, and when it is too much. */
export interface FailureList {
  add(customer: string, name: string | undefined, error: unknown): void
  /** Something succeeded: no store is out of reach or full. */
  noteSuccess(): void
  /** Forgets what failed before this was called last: all of it has been tried again. */
  endPass(): void
  count(): number
  all(): readonly CopyFailure[]
  /** Makes `giveUp` abort. */
  stop(reason: unknown): void
  /** Aborts, with an Error that says why, when it makes no sense to go on. */
  readonly giveUp: AbortSignal
}

/** Failures in a row after which a store is taken to be out of reach or full. */
const maxOutages = 10

/** Failures that are remembered; so many have one cause. */
const maxFailures = 10_000

export function createFailureList(): FailureList {
  let earlier = new Map<string, CopyFailure>()
  let current = new Map<string, CopyFailure>()
  let outages = 0
  const giveUp = new AbortController()
  const stop = (reason: unknown) => giveUp.abort(reason)

  return {
    add(customer, name, error) {
      const reason = error instanceof Error ? error.message : String(error)
      const place = JSON.stringify([customer, name])
      earlier.delete(place)
      current.set(place, { customer, name, reason })
      outages = isOutage(error) ? outages + 1 : 0
      if (outages === maxOutages) stop(tooMany(`${maxOutages} failures in a row`, reason))
      if (current.size === maxFailures) stop(tooMany(`${maxFailures} failures`, reason))
    },
    noteSuccess() {
      outages = 0
    },
    endPass() {
      earlier = current
      current = new Map()
    },
    count: () => earlier.size + current.size,
    all: () => [...earlier.values(), ...current.values()],
    giveUp: giveUp.signal,
    stop,
  }
}

const tooMany = (count: string, last: string) => new Error(`${count}, the last: ${last}`)

function isOutage(error: unknown): boolean {
  return (
    isFileServiceError(error, 'store-unavailable') ||
    isFileServiceError(error, 'insufficient-storage')
  )
}
