import { stat } from 'node:fs/promises'

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

interface WatchPathsOptions {
  /** Milliseconds between two looks. */
  readonly intervalMs: number
  /**
   * Called when what the paths lead to has changed and then kept still, or has gone; the next look waits for it.
   * Resolve to `false` to be called again although nothing may have changed.
   */
  readonly onChanged: () => Promise<boolean>
}

interface PathsWatch {
  /** No more looks; resolves when the one under way, if any, is over. */
  close(): Promise<void>
}

const settleMs = 100
const restlessMs = 2_500

/**
 * Looks again and again at what some paths lead to, links followed: a file that is written in place, replaced by rename,
 * or swapped by a symbolic link somewhere on the way (as Kubernetes does) is noticed, on every file system, which
 * cannot be said of the operating systems' notifications. Does not keep the process alive.
 */
function watchPaths(
  paths: readonly string[],
  { intervalMs, onChanged }: WatchPathsOptions,
): PathsWatch {
  let handled: string | undefined
  let last: string | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const look = async () => {
    const { signature, restless } = await signatureOf(paths)
    const still = signature === last
    last = signature
    if (still && signature !== handled) {
      const isDone = await onChanged()
      // Times are coarse: what was written within the last tick could be written once more without a trace in them.
      handled = isDone && !restless ? signature : undefined
    }
    plan(still ? intervalMs : Math.min(intervalMs, settleMs))
  }
  const plan = (delayMs: number) => {
    if (closed) return
    timer = setTimeout(() => {
      looking = look()
    }, delayMs).unref()
  }

  plan(0)
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      await looking
    },
  }
}

async function signatureOf(paths: readonly string[]) {
  const files = await Promise.all(paths.map(signatureOfOne))
  return {
    signature: files.map(({ signature }) => signature).join('\n'),
    restless: files.some(({ restless }) => restless),
  }
}

async function signatureOfOne(path: string) {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(path, { bigint: true })
    const signature = [dev, ino, size, mtimeNs, ctimeNs].join(' ')
    return { signature, restless: Date.now() - Number(ctimeMs) < restlessMs }
  } catch (error) {
    return { signature: String(error), restless: false }
  }
}
