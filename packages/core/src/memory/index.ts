import type { Credential, CredentialSource } from '../ports/credential-source.ts'
import type { FailureCounter } from '../ports/failure-counter.ts'

export { createMemoryBlobStore } from './memory-blob-store.ts'

/**
 * A {@link CredentialSource} over a fixed list, for tests and examples. If two credentials have the same name, the last one is
 * used. The keys for links contain the plain hashes: publish links only if the hashes cannot be guessed.
 */
export function createMemoryCredentialSource(credentials: Iterable<Credential>): CredentialSource {
  const byName = new Map<string, Credential>()
  for (const credential of credentials) byName.set(credential.name, credential)
  return {
    find: (name) => byName.get(name),
    async linkKey(name) {
      const passwordHash = byName.get(name)?.passwordHash
      const key = new TextEncoder().encode(
        `holdfast link key 1 in memory\0${name}\0${passwordHash}`,
      )
      return passwordHash === undefined ? undefined : key
    },
  }
}

export interface MemoryFailureCounterOptions {
  /** How long failures are remembered, in milliseconds from the first one. */
  readonly windowMs: number
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
}

/**
 * A {@link FailureCounter} in memory, for tests and examples. It frees the memory of a key only when the key is used again, so a
 * public server needs another counter, which frees the memory of all old keys.
 */
export function createMemoryFailureCounter({
  windowMs,
  now = () => performance.now(),
}: MemoryFailureCounterOptions): FailureCounter {
  const windows = new Map<string, { failures: number; readonly end: number }>()

  const current = (key: string, time: number) => {
    const window = windows.get(key)
    if (window && window.end > time) return window
    windows.delete(key)
    return undefined
  }

  return {
    read(key) {
      const time = now()
      const window = current(key, time)
      return { failures: window?.failures ?? 0, forgottenInMs: window ? window.end - time : 0 }
    },
    async add(key) {
      const time = now()
      const window = current(key, time) ?? { failures: 0, end: time + windowMs }
      window.failures++
      windows.set(key, window)
    },
  }
}
