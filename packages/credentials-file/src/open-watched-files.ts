import { stat } from 'node:fs/promises'
import { messageOf } from '@holdfast/core'

/** The result of reading files: a value, or why their content is refused. */
export type Reading<Value, Failure extends Error> =
  | { readonly value: Value }
  | { readonly refusal: Refusal<Failure> }

export interface Refusal<Failure extends Error> {
  readonly error: Failure
  /** Of refusals with equal reasons in a row, only the first is reported. */
  readonly reason: string
  /** Whether only a further change of the files can help. Otherwise they are read again at every check. */
  readonly isFinal: boolean
}

export interface WatchedFilesOptions<Value, Failure extends Error> {
  /** Reads the files; must not reject. Only one call runs at a time. */
  readonly read: () => Promise<Reading<Value, Failure>>
  /** How often the files are checked for changes, in milliseconds; with 0 only `reload` reads them again. */
  readonly pollIntervalMs: number
  /** How many checks in a row must find a refusal before it is reported, for files that may be half-written. Default: 1. */
  readonly looksBeforeRefusal?: number
  /**
   * Called with every later value than the first, right after it has become the current one. If this or `onRefused` throws, `reload`
   * rejects with the error; a check emits it as a warning of the process, and the next check reads the files again.
   */
  readonly onTaken: (value: Value, before: Value) => void
  /** Called when the content of the files is refused: by checks only when the reason changes, by `reload` each time. */
  readonly onRefused: (error: Failure) => void
}

/** A value from files that may change at any time. */
export interface WatchedFiles<Value> {
  /** The last value that was accepted. */
  current(): Value
  /** Since when the files have been refused and reported, so that the value is an earlier one; `undefined` if they are not. */
  refusedSince(): Date | undefined
  /** Reads the files again, after any reading under way; resolves with `false` if they were refused, so that the value stays. */
  reload(): Promise<boolean>
  /** Stops watching; resolves when no reading is under way. */
  close(): Promise<void>
}

/**
 * Reads files, and reads them again whenever they have changed. A new value replaces the earlier one in one step. While the files are
 * refused (missing, half-written, wrong), the last value stays.
 *
 * @throws the error of the refusal when the files are refused at the first reading
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
  const readInOrder = (isAsked: boolean) => {
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
            const result = await readInOrder(false)
            return !('refusal' in result) || result.refusal.isFinal
          },
        })
      : undefined

  return {
    current: () => current,
    refusedSince: () => refusedSince,
    reload: async () => !('refusal' in (await readInOrder(true))),
    async close() {
      await watch?.close()
      await reading
    },
  }
}

interface WatchPathsOptions {
  /** How often the paths are checked, in milliseconds. */
  readonly intervalMs: number
  /**
   * Called when the files have changed and then stayed the same until the next check, or have disappeared. The next check waits for
   * it. If it resolves with `false`, or rejects, it is called again even without a change.
   */
  readonly onChanged: () => Promise<boolean>
}

interface PathsWatch {
  /** Stops the checks; resolves when a check under way has ended. */
  close(): Promise<void>
}

const settleMs = 100
const restlessMs = 2_500

/**
 * Checks repeatedly the files at some paths, and follows links. It notices a file that is written in place, replaced by rename, or
 * replaced by a changed symbolic link in its path (as Kubernetes does). This works on every file system; the notifications of
 * operating systems do not. It does not keep the process alive.
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
      const isDone = await onChanged().catch(warnOf)
      // Times are coarse: a file that was just written could be written again without a change of its times.
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

/** No caller waits for a check, and an error in a callback must neither end the process nor the checks. */
function warnOf(error: unknown): false {
  const detail = error instanceof Error ? error.stack : undefined
  process.emitWarning(`A callback for watched files has failed: ${messageOf(error)}`, {
    type: 'WatchedFilesWarning',
    ...(detail !== undefined && { detail }),
  })
  return false
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
    return { signature, restless: Math.abs(Date.now() - Number(ctimeMs)) < restlessMs }
  } catch (error) {
    return { signature: String(error), restless: false }
  }
}
