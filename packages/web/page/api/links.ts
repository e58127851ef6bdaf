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
export function makeLink(
  connection: Connection,
  name: string,
  wishes: LinkRequest,
): Promise<SignedLink> {
  return connection.client.link(name, wishes)
}
