import type { LinkRequest, SignedLink } from '@holdfast/client/browser'
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

/** Makes a link by which anyone may GET a file, or upload one, for `expiresIn` seconds. Default: as long as the server sets, an hour or less. */
export async function makeLink(
  connection: Connection,
  name: string,
  wishes: LinkRequest,
): Promise<SignedLink> {
  const { url, expires } = await connection.client.link(name, wishes)
  return { url: ownAddress(connection, url), expires }
}

/** The link at the address that this page has: a proxy may have hidden it from the server. */
function ownAddress(connection: Connection, url: string): string {
  const { pathname, search } = new URL(url, connection.url(''))
  // Names have no slash, so these are the last two segments.
  const [path = ''] = /[^/]+\/[^/]*$/.exec(pathname) ?? []
  return connection.url(path + search)
}
