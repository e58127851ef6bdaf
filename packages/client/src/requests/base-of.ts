import { requireUrl } from '../options/require.ts'

/**
 * The address to which paths are appended, wherever the service is mounted.
 *
 * @throws TypeError if it is no URL of HTTP, or has credentials
 */
export function baseOf(url: string | URL): URL {
  const base = requireUrl('url', url, 'https://files.example.com')
  if (!/^https?:$/.test(base.protocol)) throw new TypeError(`Not a URL of HTTP: ${base.href}`)
  if (base.username !== '' || base.password !== '') {
    throw new TypeError('Credentials are options of their own, and no part of the URL')
  }
  base.search = base.hash = ''
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}
