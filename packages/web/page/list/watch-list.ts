import { isRefusedLogin } from '../api/connection.ts'
import { afterTime, type AfterTime } from '../browser/storage-and-timers.ts'
import type { FileList, RefreshedList } from './file-list-state.ts'

/** How long to wait between two requests, in ms: longer while nothing changes, and after a slow answer. */
const shortestMs = 4000
const longestMs = 20_000
const longestAfterErrorMs = 60_000
/** How many times longer than a request takes the pause after it is. */
const pausePerRequest = 20
/** The most names of a request. */
const pageSize = 1000

interface Context {
  /** Receives the names of files that have come from elsewhere. */
  readonly onArrived: (names: readonly string[]) => void
  readonly after?: AfterTime
  readonly now?: () => number
  /** Says whether the page is visible, and when that changes. */
  readonly page: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>
  /** Says when the browser is online again. */
  readonly network: Pick<Window, 'addEventListener' | 'removeEventListener'>
}

/**
 * Keeps the list current while the page is visible: what another tab, the command or a stranger stores appears within seconds. Each
 * request lists a page of names; the next one goes on where it ended, so that a list of a thousand files is compared at once, and a
 * longer one bit by bit. In turn with those it lists what is in view. A list that could not be loaded is loaded again. Returns a function
 * that ends this.
 */
export function watchList(files: FileList, context: Context): () => void {
  const { onArrived, after = afterTime, now = () => performance.now(), page, network } = context
  let cursor = ''
  let isViewNext = false
  let pauseMs = shortestMs
  let isRunning = false
  const ended = new AbortController()
  const isEnded = () => ended.signal.aborted
  let stop = after(shortestMs, () => void run())

  async function look(): Promise<RefreshedList> {
    isViewNext = !isViewNext && files.all.peek().length > pageSize
    if (isViewNext) return files.refresh(files.beforeView(), pageSize)
    const refreshed = await files.refresh(cursor, pageSize)
    cursor = refreshed.last ?? ''
    return refreshed
  }

  async function retry(): Promise<void> {
    await files.retry()
    const isLoaded = typeof files.status.peek() !== 'object'
    pauseMs = isLoaded ? shortestMs : Math.min(longestAfterErrorMs, pauseMs * 2)
  }

  async function run(): Promise<void> {
    if (isEnded() || isRunning || page.visibilityState !== 'visible') return
    isRunning = true
    const startedAt = now()
    try {
      const status = files.status.peek()
      // After a refused login the page asks for the new password, and then loads the list.
      if (typeof status === 'object' && !isRefusedLogin(status.error)) await retry()
      else if (status === 'complete') {
        const { added, hasChanged } = await look()
        if (isEnded()) return
        pauseMs = hasChanged ? shortestMs : Math.min(longestMs, pauseMs * 1.5)
        if (hasChanged) files.refreshUsage()
        if (added.length > 0) onArrived(added)
      }
    } catch {
      // The list itself says why it cannot be loaded; here it is only tried again.
      pauseMs = Math.min(longestAfterErrorMs, pauseMs * 2)
    } finally {
      isRunning = false
    }
    if (isEnded()) return
    stop = after(Math.max(pauseMs, pausePerRequest * (now() - startedAt)), () => void run())
  }

  const lookNow = () => {
    pauseMs = shortestMs
    if (isRunning) return
    stop()
    void run()
  }
  page.addEventListener('visibilitychange', lookNow)
  network.addEventListener('online', lookNow)
  return () => {
    ended.abort()
    stop()
    page.removeEventListener('visibilitychange', lookNow)
    network.removeEventListener('online', lookNow)
  }
}
