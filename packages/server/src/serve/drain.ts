import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * Closes `server`: no new connections, connections without a request at once, the others when their request is answered. What is
 * left after `graceMs`, or when `cut` aborts, is cut. `true` when nothing had to be.
 */
export async function drain(server: Server, graceMs: number, cut?: AbortSignal): Promise<boolean> {
  let isClean = true
  const closed = new Promise<undefined>((resolve) => server.close(() => resolve(undefined)))
  // A client on a kept connection learns from the answer under way that it was the last one.
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  )
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50)
  const cutAll = () => {
    isClean = false
    server.closeAllConnections()
  }
  const timer = setTimeout(cutAll, graceMs)
  cut?.addEventListener('abort', cutAll, { once: true })
  await closed
  clearInterval(closeIdle)
  clearTimeout(timer)
  cut?.removeEventListener('abort', cutAll)
  return isClean
}
