import { isSystemError } from './system-error.ts'

let last: { readonly error: unknown } | undefined

/** The last sync of this process that failed; `undefined` as long as none has. Each failure is another object. */
export function lastFailedSync(): { readonly error: unknown } | undefined {
  return last
}

/**
 * Resolves or rejects as `sync` does, and remembers a failure for {@link lastFailedSync}. EINVAL is none: the file system
 * cannot sync what it was asked to.
 */
export async function recordFailedSync(sync: Promise<void>): Promise<void> {
  try {
    await sync
  } catch (error) {
    if (!isSystemError(error, 'EINVAL')) last = { error }
    throw error
  }
}
