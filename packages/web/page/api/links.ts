import type { SignedLink } from '@holdfast/client/browser'
import type { Connection } from './connection.ts'

/** Whether this server makes links. */
export async function hasLinks(connection: Connection): Promise<boolean> {
  try {
    const { status } = await fetch(connection.url('link/a'), { method: 'OPTIONS' })
    return status === 204
  } catch {
    return false
  }
}

/** Makes a link by which anyone may GET a file for `expiresIn` seconds. Default: as long as the server sets, an hour or less. */
export async function makeLink(
  connection: Connection,
  name: string,
  options: { readonly expiresIn?: number; readonly inline: boolean },
): Promise<SignedLink> {
  const { url, expires } = await connection.client.link(name, options)
  return { url: ownAddress(connection, url), expires }
}

/** The link at the address that this page has: a proxy may have hidden it from the server. */
function ownAddress(connection: Connection, url: string): string {
  const { pathname, search } = new URL(url, connection.url(''))
  const path = pathname.slice(pathname.lastIndexOf('/serve/') + 1)
  return connection.url(path + search)
}
