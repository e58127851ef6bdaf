import { randomUUID } from 'node:crypto'
import { readFile, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import writeFileAtomic from 'write-file-atomic'

/** Lets one process at a time deliver the events of a trail. */
export interface Lease {
  /** Whether this process holds it. If not, tries to get it; call this again and again, also several times at once. */
  hold(): Promise<boolean>
  /** Gives it to the next process. */
  close(): Promise<void>
}

export interface LeaseOptions {
  /** After how long without a renewal another process may take it, in milliseconds. Default: 15 seconds. */
  readonly expiryMs?: number
}

/** How long two processes that take it at the same time need to see which of them was the last, in milliseconds. */
const settleMs = 200

interface Holder {
  readonly token: string
  readonly host: string
  readonly pid: number
}

/**
 * The lease in the file `path`, on a file system that all processes share. The holder renews it at every call of `hold` that comes a
 * third of the expiry after the one before. A process of this host that has ended loses it at once.
 *
 * It saves work and does not protect data: while a holder that was stopped for long and its successor both believe to hold it, events
 * are delivered twice.
 */
export function createLease(path: string, { expiryMs = 15_000 }: LeaseOptions = {}): Lease {
  const own: Holder = { token: randomUUID(), host: hostname(), pid: process.pid }
  let isHeld = false
  let renewedAt = -Infinity
  let seen: { readonly mark: string; readonly at: number } | undefined

  const renew = async () => {
    if (performance.now() - renewedAt < expiryMs / 3) return true
    const holder = await readHolder(path)
    if (holder?.token !== own.token) return false
    const now = new Date()
    await utimes(path, now, now)
    renewedAt = performance.now()
    return true
  }

  /** Whether the holder has ended, or has not renewed the lease for the whole time that this process was watching. */
  const isFree = async (holder: Holder) => {
    if (isEnded(holder, own)) return true
    const mark = `${holder.token} ${(await stat(path)).mtimeMs}`
    if (seen?.mark !== mark) seen = { mark, at: performance.now() }
    return performance.now() - seen.at > expiryMs
  }

  const take = async () => {
    const holder = await readHolder(path)
    if (holder !== undefined && !(await isFree(holder))) return false
    await writeFileAtomic(path, `${JSON.stringify(own)}\n`, { mode: 0o640, fsync: false })
    await delay(settleMs)
    renewedAt = performance.now()
    return (await readHolder(path))?.token === own.token
  }

  const hold = async () => {
    // If the file cannot be read or written, no one can know who the holder is.
    isHeld = await (isHeld ? renew() : take()).catch(() => false)
    return isHeld
  }
  let holding: Promise<boolean> | undefined

  return {
    hold: () => (holding ??= hold().finally(() => (holding = undefined))),
    async close() {
      const holder = isHeld ? await readHolder(path).catch(() => undefined) : undefined
      isHeld = false
      if (holder?.token === own.token) await rm(path, { force: true }).catch(() => {})
    },
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  try {
    return JSON.parse(text) as Holder
  } catch {
    return undefined
  }
}

/** Whether the process is known to have ended. In a container, the process before a restart had this one's number. */
function isEnded(holder: Holder, own: Holder): boolean {
  if (holder.host !== own.host) return false
  if (holder.pid === own.pid) return holder.token !== own.token
  try {
    process.kill(holder.pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
