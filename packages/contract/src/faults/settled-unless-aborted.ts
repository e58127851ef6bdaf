/** Resolves when `promise` has settled, however; rejects with the signal's reason as soon as that aborts. */
export async function settledUnlessAborted(
  promise: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([promise.catch(() => {}), aborted.promise])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
