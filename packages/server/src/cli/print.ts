let isGuarded = false

/**
 * Writes to standard output and waits for it. Rejects where it cannot be written: nobody reads it any more (`EPIPE`),
 * or it goes to a disk that is full. Without this, Node would end the process with a stack.
 */
export async function print(text: string): Promise<void> {
  // The event comes beside the callback or behind it, and may be nobody's.
  if (!isGuarded) process.stdout.on('error', () => {})
  isGuarded = true
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  process.stdout.write(text, (error) => (error ? reject(error) : resolve(undefined)))
  await promise
}
