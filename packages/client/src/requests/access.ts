import { isHoldfastError, type HoldfastError } from '../shared/holdfast-error.ts'
import { requireUrl } from '../shared/require.ts'

/** The address of requests, and the credentials that they carry. */
export interface Access {
  /** Paths are appended to it. */
  readonly base: URL
  /** What follows the path: '' or `?` and more. */
  readonly query: string
  readonly credentials: Credentials
  /** Whether files may be read. A link to upload allows only uploads. */
  readonly mayRead: boolean
}

interface CredentialOptions {
  readonly name: string
  readonly password: string | (() => string)
  readonly onRefused?: ((error: HoldfastError) => void) | undefined
}

/** The credentials of requests. */
export interface Credentials {
  /** The current credentials, for one request. */
  take(): TakenCredentials
  /** Whether a request may have failed because the password has changed since. */
  readonly passwordHasChanged: (error: unknown) => boolean
}

interface TakenCredentials {
  readonly headers: Readonly<Record<string, string>>
  /** Records the error of the request. */
  failed(error: HoldfastError): void
}

export function createCredentials({ name, password, onRefused }: CredentialOptions): Credentials {
  const nameHeader = headerOf('name', name)
  const current = typeof password === 'function' ? password : () => password
  // Report at once what can never work.
  if (typeof password !== 'function') headerOf('password', password)
  /** The passwords of failed requests: an answer to HEAD has no message that would say why it failed. */
  const passwords = new WeakMap<HoldfastError, string>()
  const passwordHasChanged = (error: unknown) => {
    const shown = isHoldfastError(error) ? passwords.get(error) : undefined
    return shown !== undefined && shown !== current()
  }
  return {
    passwordHasChanged,
    take() {
      const shown = current()
      return {
        headers: { 'x-auth-name': nameHeader, 'x-auth-password': headerOf('password', shown) },
        failed(error) {
          if (error.status !== 400) return
          passwords.set(error, shown)
          const isRefusal = isHoldfastError(error, 'invalid-credentials', 'missing-credentials')
          if (isRefusal && !passwordHasChanged(error)) onRefused?.(error)
        },
      }
    },
  }
}

/** HTTP headers take one character for each byte; the server reads the bytes as UTF-8. */
function headerOf(option: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${option} is missing`)
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw new TypeError(`${option} has a control character, which HTTP headers cannot contain`)
  }
  return String.fromCharCode(...new TextEncoder().encode(value))
}

/** The link alone authorizes requests. */
const noCredentials: Credentials = {
  passwordHasChanged: () => false,
  take: () => ({ headers: {}, failed() {} }),
}

/**
 * The access that a link to upload gives.
 *
 * @throws TypeError if it is no such link
 */
export function linkAccess(link: string | URL): Access {
  const url = requireUrl('link', link, 'https://files.example.com/upload/NAME?link=TOKEN')
  const { href, pathname, searchParams } = url
  const token = searchParams.get('link')
  const [, name] = /\/upload\/([^/]+)$/.exec(pathname) ?? []
  if (token === null || name === undefined) throw new TypeError(`Not a link to upload: ${href}`)
  // The path at which uploads in pieces begin has no name in it.
  const query = new URLSearchParams({ link: token, name: decodeURIComponent(name) })
  return {
    base: baseOf(new URL('..', url)),
    query: `?${query.toString()}`,
    credentials: noCredentials,
    mayRead: false,
  }
}

/**
 * The address to which paths are appended, wherever the service is mounted.
 *
 * @throws TypeError if it is no HTTP URL, or has credentials
 */
export function baseOf(url: string | URL): URL {
  const base = requireUrl('url', url, 'https://files.example.com')
  if (!/^https?:$/.test(base.protocol)) throw new TypeError(`Not an HTTP URL: ${base.href}`)
  if (base.username !== '' || base.password !== '') {
    throw new TypeError('Give the credentials as options, not in the URL')
  }
  base.search = base.hash = ''
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}
