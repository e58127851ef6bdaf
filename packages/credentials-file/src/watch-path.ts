import { stat } from 'node:fs/promises'

export interface WatchPathOptions {
  /** Milliseconds between two looks. */
  readonly intervalMs: number
  /**
   * Called when what the path leads to has changed and then kept still, or has gone; the next look waits for it.
   * Resolve to `false` to be called again although nothing may have changed.
   */
  readonly onChanged: () => Promise<boolean>
}

export interface PathWatch {
  /** No more looks; resolves when the one under way, if any, is over. */
  close(): Promise<void>
}

const settleMs = 100
const restlessMs = 2_500

/**
 * Looks again and again at what a path leads to, links followed: a file that is written in place, replaced by rename,
 * or swapped by a symbolic link somewhere on the way (as Kubernetes does) is noticed, on every file system, which
 * cannot be said of the operating systems' notifications. Does not keep the process alive.
 */
export function watchPath(path: string, { intervalMs, onChanged }: WatchPathOptions): PathWatch {
  let handled: string | undefined
  let last: string | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const look = async () => {
    const { signature, restless } = await signatureOf(path)
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

async function signatureOf(path: string) {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = await stat(path, { bigint: true })
    const signature = [dev, ino, size, mtimeNs, ctimeNs].join(' ')
    return { signature, restless: Date.now() - Number(ctimeMs) < restlessMs }
  } catch (error) {
    return { signature: String(error), restless: false }
  }
}
