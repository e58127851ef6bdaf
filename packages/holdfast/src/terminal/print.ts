import { SetupError } from '@holdfast/core'
import { isReaderGone } from './is-reader-gone.ts'

let isGuarded = false

/**
 * Writes to standard output and waits for it. Rejects where it cannot be written: with `EPIPE` where its reader has gone,
 * with a `SetupError` otherwise, as on a disk that is full. Without this, Node would end the process with a stack.
 */
export async function print(text: string): Promise<void> {
  // The event comes beside the callback or behind it, and may be nobody's.
  if (!isGuarded) process.stdout.on('error', () => {})
  isGuarded = true
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  process.stdout.write(text, (error) => (error ? reject(explain(error)) : resolve(undefined)))
  await promise
}

function explain(error: Error): Error {
  if (isReaderGone(error)) return error
  return new SetupError(`Standard output cannot be written (${error.message}).`)
}
