import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to outgoing connections: one of those could take the port of a server that is down
// for a moment, and keep it from coming back.
const lowest = 20_000
const highest = 32_000

/** Finds a port of 127.0.0.1 that is free, fit for a server that is to be restarted. */
export async function findFreePort(): Promise<number> {
  while (true) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
