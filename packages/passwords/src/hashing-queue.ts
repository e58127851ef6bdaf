import { FileServiceError } from '@holdfast/core'

export interface HashingQueueOptions {
  /** Computations at a time. */
  readonly concurrency: number
  /** Verifications that may wait beside those. */
  readonly limit: number
}

/** Who wants a verification. */
export interface HashingRequest {
  /** Equal for equal verifications. */
  readonly key: string
  /** In whose line it waits. */
  readonly address: string
  /** Aborts when it is not wanted any more. */
  readonly signal?: AbortSignal | undefined
}

export interface HashingQueue {
  /**
   * Runs `verify` when its turn comes: addresses take turns, and of one address it is first come first served. As soon
   * as any verification of the same `key` has come out true, those of that key still waiting resolve to `true` without
   * running; when it comes out false, or fails, nothing is shared. When the signal aborts it leaves the queue and
   * rejects with the signal's reason; once running, it goes on.
   *
   * @throws FileServiceError `overloaded` when too many wait: the latest of the address of which most do.
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
 * A bounded queue of password verifications.
 *
 * Only success is shared; until then each verification holds a place of its own. Shared failures would reveal which
 * customers exist: many wrong passwords for a known customer would need one computation, and those for unknown customers,
 * who have no hash, always one or always many.
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
      /** The signal may be that of a connection, which lives on. */
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

/** Lines of those who wait, one for each of whatever they stand for. */
interface WaitingLines<T> {
  /** How many wait in all lines together. */
  readonly size: number
  join(line: string, one: T): void
  leave(line: string, one: T): void
  /** Takes the first one of the line whose turn it is. */
  takeNext(): T | undefined
  /** Takes the last one of the longest line, if that stays at least as long as `line` with one more. */
  takeSurplus(line: string): T | undefined
  /** Takes all of all lines for whom `isMeant`. */
  takeAll(isMeant: (one: T) => boolean): readonly T[]
}

/** Waiting lines that take turns: who stands in a short one is not kept by a long one. First come first within a line. */
function createWaitingLines<T>(): WaitingLines<T> {
  // In the order of their turns; none is empty.
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
