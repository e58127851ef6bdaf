import { watchPaths } from './watch-paths.ts'

/** What files hold when they are read: a value, or why they are refused as they are. */
export type Reading<Value, Failure extends Error> =
  | { readonly value: Value }
  | { readonly refusal: Refusal<Failure> }

export interface Refusal<Failure extends Error> {
  readonly error: Failure
  /** Equal for two refusals of which only the first is to be reported. */
  readonly reason: string
  /** Whether only another change of the files can help. Otherwise they are read again at every look. */
  readonly isFinal: boolean
}

export interface WatchedFilesOptions<Value, Failure extends Error> {
  /** Reads the files; must not reject. Never runs twice at a time. */
  readonly read: () => Promise<Reading<Value, Failure>>
  /** Milliseconds between two looks at the files; 0 for none, so that only `reload` reads them again. */
  readonly pollIntervalMs: number
  /** How many looks in a row must find a refusal before it is reported, where files may be seen half-way. Default: 1. */
  readonly looksBeforeRefusal?: number
  /** Called with every value that is read after the first, as soon as it is the current one. */
  readonly onTaken: (value: Value, before: Value) => void
  /** Called when what the files hold is refused: at a look once for each reason in turn, on `reload` each time. */
  readonly onRefused: (error: Failure) => void
}

/** A value from files that may change at any time. */
export interface WatchedFiles<Value> {
  /** The value that was taken last. */
  current(): Value
  /** Since when a refusal has been reported, so that the value is an earlier one; `undefined` if it is not. */
  refusedSince(): Date | undefined
  /** Reads the files again, after any reading under way; `false` when they were refused and the value stays. */
  reload(): Promise<boolean>
  /** Stops watching; resolves when no reading is under way. */
  close(): Promise<void>
}

/**
 * Reads files, and reads them again whenever they have changed. A value replaces the one before in one step. While the files are
 * refused (missing, half written, wrong), the last value stays.
 *
 * @throws the error of the refusal when the files cannot be taken now
 */
export async function openWatchedFiles<Value, Failure extends Error>(
  paths: readonly string[],
  options: WatchedFilesOptions<Value, Failure>,
): Promise<WatchedFiles<Value>> {
  const { read, pollIntervalMs, looksBeforeRefusal = 1, onTaken, onRefused } = options
  const first = await read()
  if ('refusal' in first) throw first.refusal.error
  let current = first.value
  let lastReason: string | undefined
  let reportedReason: string | undefined
  let looks = 0
  let refusedSince: Date | undefined
  let reading: Promise<unknown> = Promise.resolve()

  const take = (next: Value) => {
    lastReason = reportedReason = refusedSince = undefined
    const before = current
    current = next
    onTaken(next, before)
  }
  const refuse = ({ error, reason }: Refusal<Failure>, isAsked: boolean) => {
    looks = reason === lastReason ? looks + 1 : 1
    lastReason = reason
    if (!isAsked && (looks < looksBeforeRefusal || reason === reportedReason)) return
    reportedReason = reason
    refusedSince ??= new Date()
    onRefused(error)
  }
  const readNow = async (isAsked: boolean) => {
    const result = await read()
    if ('refusal' in result) refuse(result.refusal, isAsked)
    else take(result.value)
    return result
  }
  const readInTurn = (isAsked: boolean) => {
    const result = reading.then(() => readNow(isAsked))
    // A callback that throws fails this reading, and not the next one.
    reading = result.catch(() => {})
    return result
  }
  const watch =
    pollIntervalMs > 0
      ? watchPaths(paths, {
          intervalMs: pollIntervalMs,
          async onChanged() {
            const result = await readInTurn(false)
            return !('refusal' in result) || result.refusal.isFinal
          },
        })
      : undefined

  return {
    current: () => current,
    refusedSince: () => refusedSince,
    reload: async () => !('refusal' in (await readInTurn(true))),
    async close() {
      await watch?.close()
      await reading
    },
  }
}
