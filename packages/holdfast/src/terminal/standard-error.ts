let isGuarded = false

/**
 * Standard error, for messages to people. If it cannot be written (`2>/dev/full`, a reader that has stopped), the messages are
 * lost and the command goes on. Without this, Node would end the process.
 */
export function standardError(): NodeJS.WriteStream {
  if (!isGuarded) process.stderr.on('error', () => {})
  isGuarded = true
  return process.stderr
}
