import { SetupError } from '@holdfast/core'

/** Standard output cannot be written, for another reason than that its reader has stopped. */
export class UnwritableError extends SetupError {
  override readonly name = 'UnwritableError'
}

let isGuarded = false

/**
 * Writes to standard output and waits for it. Rejects if it cannot be written: with `EPIPE` if the reader has stopped,
 * with an `UnwritableError` otherwise, such as on a full disk. Without this, Node would end the process with a stack.
 */
export function print(text: string): Promise<void> {
  return writeBytes(text)
}

/** The same for bytes. */
export async function writeBytes(bytes: string | Uint8Array): Promise<void> {
  // The event may come before or after the callback, and would throw without a listener.
  if (!isGuarded) process.stdout.on('error', () => {})
  isGuarded = true
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  process.stdout.write(bytes, (error) => (error ? reject(explain(error)) : resolve(undefined)))
  await promise
}

function explain(error: Error): Error {
  if (isReaderGone(error)) return error
  return new UnwritableError(`Standard output cannot be written (${error.message}).`)
}

/** Whether standard output failed because its reader has stopped, as `head` does: no error for the user. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
