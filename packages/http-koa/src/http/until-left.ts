import type { IncomingMessage } from 'node:http'
import { problems } from './problem.ts'

/** What `action` comes to; its signal aborts when the client leaves before that. For while nobody reads the body. */
export async function untilLeft<T>(
  request: IncomingMessage,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  const onClose = () => leaving.abort(problems.truncatedBody())
  request.once('close', onClose)
  try {
    return await action(leaving.signal)
  } finally {
    request.off('close', onClose)
  }
}
