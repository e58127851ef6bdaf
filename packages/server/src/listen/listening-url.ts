import type { AddressInfo } from 'node:net'

/** Where a server is reached whose `address()` is this one, such as `http://127.0.0.1:3000`. */
export function listeningUrl(scheme: 'http' | 'https', bound: AddressInfo | string | null): string {
  const { address, family, port } = bound as AddressInfo
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
