let isGuarded = false

/**
 * Standard error, for words to people. Where it cannot be written (`2>/dev/full`, a reader that has gone) the words are lost,
 * and the command goes on. Without this, Node would end the process.
 */
export function standardError(): NodeJS.WriteStream {
  if (!isGuarded) process.stderr.on('error', () => {})
  isGuarded = true
  return process.stderr
}
