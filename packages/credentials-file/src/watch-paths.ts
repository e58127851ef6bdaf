import { stat } from 'node:fs/promises'

export interface WatchPathsOptions {
  /** Milliseconds between two looks. */
  readonly intervalMs: number
  /**
   * Called when what the paths lead to has changed and then kept still, or has gone; the next look waits for it.
   * Resolve to `false` to be called again although nothing may have changed.
   */
  readonly onChanged: () => Promise<boolean>
}

export interface PathsWatch {
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
export function watchPaths(
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
