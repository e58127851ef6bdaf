import type { Access } from './access.ts'
import { requireUrl } from '../options/require.ts'
import { baseOf } from './base-of.ts'
import type { Credentials } from './credentials.ts'

/** The link alone lets requests in. */
const noCredentials: Credentials = {
  isOutdated: () => false,
  take: () => ({ headers: {}, failed() {} }),
}

/**
 * The access that a link to upload gives.
 *
 * @throws TypeError if it is none
 */
export function linkAccess(link: string | URL): Access {
  const url = requireUrl('link', link, 'https://files.example.com/upload/NAME?link=TOKEN')
  const { href, pathname, searchParams } = url
  const token = searchParams.get('link')
  const [, name] = /\/upload\/([^/]+)$/.exec(pathname) ?? []
  if (token === null || name === undefined) throw new TypeError(`Not a link to upload: ${href}`)
  // Uploads in pieces begin at a path that has no name in it.
  const query = new URLSearchParams({ link: token, name: decodeURIComponent(name) })
  return {
    base: baseOf(new URL('..', url)),
    query: `?${query.toString()}`,
    credentials: noCredentials,
    mayRead: false,
  }
}
