import { FileServiceError } from '@holdfast/core'

export interface HashingQueueOptions {
  /** How many verifications run at a time. */
  readonly concurrency: number
  /** How many further verifications may wait. */
  readonly limit: number
}

/** A request for a verification. */
export interface HashingRequest {
  /** Equal for equal verifications. */
  readonly key: string
  /** The address in whose line it waits. */
  readonly address: string
  /** Aborts when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined
}

export interface HashingQueue {
  /**
   * Runs `verify` when the queue reaches it. The addresses are served in rotation, and the requests of one address in the order of
   * their arrival. When a verification results in `true`, all waiting ones with the same `key` resolve with `true` without running;
   * `false` and errors are not shared. If the signal aborts while the request waits, it leaves the queue and rejects with the
   * signal's reason; a running verification continues.
   *
   * @throws FileServiceError `overloaded` when too many wait; it refuses the latest request of the address with most waiting ones.
   */
  run(request: HashingRequest, verify: () => Promise<boolean>): Promise<boolean>
}

interface Waiting {
  readonly key: string
  readonly start: () => void
  readonly succeed: () => void
  readonly fail: (error: unknown) => void
}

const retryAfterMs = 1_000

/**
 * A limited queue of password verifications.
 *
 * Only success is shared; until then each verification takes its own slot. Shared failures would reveal which customers exist: many
 * equal wrong passwords would need one computation for a known customer, but possibly another number for unknown ones, who have no
 * hash.
 */
export function createHashingQueue({ concurrency, limit }: HashingQueueOptions): HashingQueue {
  const lines = createWaitingLines<Waiting>()
  let running = 0

  const succeedAll = (key: string) => {
    for (const one of lines.takeAll((each) => each.key === key)) one.succeed()
  }

  const runNow = async (key: string, verify: () => Promise<boolean>) => {
    running++
    try {
      const verified = await verify()
      if (verified) succeedAll(key)
      return verified
    } finally {
      running--
      lines.takeNext()?.start()
    }
  }

  const overloaded = () =>
    new FileServiceError('overloaded', `More than ${limit} logins are waiting`, { retryAfterMs })

  const makeRoom = (address: string) => {
    if (lines.size < limit) return
    const surplus = lines.takeSurplus(address)
    if (surplus === undefined) throw overloaded()
    surplus.fail(overloaded())
  }

  const wait = ({ key, address, signal }: HashingRequest, verify: () => Promise<boolean>) =>
    new Promise<boolean>((resolve, reject) => {
      const leave = () => {
        lines.leave(address, one)
        one.fail(signal?.reason)
      }
      /** `act`, which first removes the listener: the signal may belong to a connection, which continues. */
      const whenCalled = <Args extends unknown[]>(act: (...args: Args) => void) => {
        return (...args: Args) => {
          signal?.removeEventListener('abort', leave)
          act(...args)
        }
      }
      const one: Waiting = {
        key,
        start: whenCalled(() => void runNow(key, verify).then(resolve, reject)),
        succeed: whenCalled(() => resolve(true)),
        fail: whenCalled(reject),
      }
      signal?.addEventListener('abort', leave, { once: true })
      lines.join(address, one)
    })

  return {
    async run(request, verify) {
      request.signal?.throwIfAborted()
      if (running < concurrency) return runNow(request.key, verify)
      makeRoom(request.address)
      return wait(request, verify)
    },
  }
}

/** Several lines of waiting entries, each with a name. */
interface WaitingLines<T> {
  /** How many entries wait in all lines together. */
  readonly size: number
  join(line: string, one: T): void
  leave(line: string, one: T): void
  /** Takes the first entry of the next line in the rotation. */
  takeNext(): T | undefined
  /** Takes the last entry of the longest line, if that line then is at least as long as `line` with one more entry. */
  takeSurplus(line: string): T | undefined
  /** Takes all entries of all lines for which `isMeant` returns `true`. */
  takeAll(isMeant: (one: T) => boolean): readonly T[]
}

/** {@link WaitingLines} that are served in rotation, so that a long line does not delay a short one. Each line keeps its order. */
function createWaitingLines<T>(): WaitingLines<T> {
  // In the order of the rotation; no line is empty.
  const lines = new Map<string, readonly T[]>()
  let size = 0

  const lengthOf = (line: string) => lines.get(line)?.length ?? 0
  const keep = (line: string, rest: readonly T[]) => {
    size += rest.length - lengthOf(line)
    if (rest.length > 0) lines.set(line, rest)
    else lines.delete(line)
  }

  return {
    get size() {
      return size
    },
    join: (line, one) => keep(line, [...(lines.get(line) ?? []), one]),
    leave(line, one) {
      const ones = lines.get(line) ?? []
      keep(
        line,
        ones.filter((each) => each !== one),
      )
    },
    takeNext() {
      for (const [line, [first, ...rest]] of lines) {
        keep(line, [])
        keep(line, rest)
        return first
      }
      return undefined
    },
    takeSurplus(line) {
      const [longest] = [...lines].sort(([, one], [, other]) => other.length - one.length)
      if (longest === undefined || longest[1].length <= lengthOf(line) + 1) return undefined
      keep(longest[0], longest[1].slice(0, -1))
      return longest[1].at(-1)
    },
    takeAll(isMeant) {
      const all = [...lines]
      for (const [line, ones] of all) {
        if (ones.some(isMeant)) {
          keep(
            line,
            ones.filter((one) => !isMeant(one)),
          )
        }
      }
      return all.flatMap(([, ones]) => ones.filter(isMeant))
    },
  }
}
