import { requireText, SetupError } from '@holdfast/core'

/** A host and a port. */
export interface HostPort {
  /** A name or an IP address; an IPv6 address without brackets. */
  readonly host: string
  readonly port: number
}

/** Where an engine is, and how it is reached. */
export interface EngineAddress {
  /** One server, a master that Sentinels name, or a Cluster. */
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly tls: boolean
  /** The server; the Sentinels; or some nodes of the Cluster, which name the others. */
  readonly hosts: readonly HostPort[]
  /** The number of the database. Always 0 in a Cluster. */
  readonly database: number
  readonly username?: string
  /** What the Sentinels call the master; empty for the other kinds. */
  readonly masterName: string
}

const kinds: ReadonlyMap<string, { readonly kind: EngineAddress['kind']; readonly tls: boolean }> =
  new Map([
    ['redis', { kind: 'single', tls: false }],
    ['rediss', { kind: 'single', tls: true }],
    ['redis+sentinel', { kind: 'sentinel', tls: false }],
    ['rediss+sentinel', { kind: 'sentinel', tls: true }],
    ['redis+cluster', { kind: 'cluster', tls: false }],
    ['rediss+cluster', { kind: 'cluster', tls: true }],
  ])

const defaultPorts = { single: 6379, sentinel: 26_379, cluster: 6379 } as const

const example = 'Write it as in redis://HOST:6379'
const otherExamples = [
  'rediss://HOST:6379 for TLS',
  'redis+sentinel://HOST:26379,HOST2:26379/MASTER-NAME for Sentinel',
  'redis+cluster://HOST:6379,HOST2:6379 for a Cluster',
]

/**
 * Reads the URL of an engine:
 *
 * - `redis://HOST:PORT/DATABASE`, with the default port 6379 and database 0; `rediss://` with TLS
 * - `redis+sentinel://HOST:PORT,HOST:PORT/MASTER-NAME/DATABASE`, with the default port 26379; `rediss+sentinel://` with TLS for
 *   Sentinels and servers
 * - `redis+cluster://HOST:PORT,HOST:PORT`; `rediss+cluster://` with TLS
 *
 * A user may stand before the first host, as in `redis://USER@HOST`, percent-encoded. An IPv6 address stands in brackets. A Unix socket
 * is refused: servers on other machines cannot share it.
 *
 * @throws SetupError that says what is wrong, without anything that may be a password
 */
export function parseEngineUrl(url: string): EngineAddress {
  requireText('url', url)
  const [, scheme = '', rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(url) ?? []
  if (rest === undefined) throw withoutScheme(url)
  const found = kinds.get(scheme.toLowerCase())
  if (found === undefined) throw unknownScheme(scheme)
  // Judge the user before anything else: the other errors show parts of the text, and a password may have any character.
  const at = rest.lastIndexOf('@')
  const username = at < 0 ? undefined : parseUser(rest.slice(0, at))
  const address = rest.slice(at + 1)
  if (/[?#]/.test(address)) {
    throw new SetupError(
      'The URL of the engine has a query or a fragment, which mean nothing here',
      ['Remove what follows the question mark or hash mark'],
    )
  }
  const [authority = '', ...path] = address.split('/')
  const hosts = authority.split(',').map((text) => parseHost(text, defaultPorts[found.kind]))
  if (found.kind === 'single' && hosts.length > 1) {
    throw new SetupError(
      'The URL of the engine names several hosts, but is one of a single server',
      [...otherExamples.slice(1)],
    )
  }
  return {
    ...found,
    hosts,
    ...(username !== undefined && { username }),
    ...parsePath(found.kind, path),
  }
}

function withoutScheme(url: string): SetupError {
  // What has no scheme may be a password that went to the wrong setting.
  if (/^[\w.-]+(?::\d+)?$/.test(url) && /[.:]|^localhost$/.test(url)) {
    return new SetupError(`The URL of the engine has no scheme: ${url}`, [
      `Write it as in redis://${url}`,
      ...otherExamples,
    ])
  }
  return new SetupError('The URL of the engine has no scheme and host', [example, ...otherExamples])
}

function unknownScheme(scheme: string): SetupError {
  if (scheme.toLowerCase() === 'unix') {
    return new SetupError(
      'The engine cannot be a Unix socket: servers on other machines cannot reach it',
      [example, ...otherExamples],
    )
  }
  return new SetupError(`The URL of the engine has an unknown scheme, ${scheme}://`, [
    example,
    ...otherExamples,
  ])
}

function parseUser(text: string): string | undefined {
  if (text.includes(':')) {
    throw new SetupError(
      'The URL of the engine contains a password, which every user of the machine can see in the list of processes',
      [
        'Put it into the variable HOLDFAST_SHARED_PASSWORD, or into a file that HOLDFAST_SHARED_PASSWORD_FILE names',
      ],
    )
  }
  const user = decoded(text)
  if (user === undefined || user === '' || /[@/?#\s]/.test(text)) {
    throw new SetupError('The URL of the engine has a user that cannot be read', [
      'Write it as in redis://USER@HOST, with percent signs for special characters',
    ])
  }
  return user
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function parseHost(text: string, defaultPort: number): HostPort {
  const [, bracketed, plain = '', portText] =
    /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?))(?::(\d{1,5}))?$/i.exec(text) ??
    []
  const host = bracketed ?? plain
  const port = portText === undefined ? defaultPort : Number(portText)
  if (host !== '' && port > 0 && port < 65_536) return { host, port }
  const problem = `The URL of the engine has a host that cannot be read: "${text}"`
  if (text.split(':').length > 2 && !text.includes('[')) {
    throw new SetupError(problem, ['Write an IPv6 address in brackets, as in redis://[::1]:6379'])
  }
  throw new SetupError(problem, [example])
}

function parsePath(
  kind: EngineAddress['kind'],
  path: readonly string[],
): { readonly database: number; readonly masterName: string } {
  // A slash at the end says nothing.
  const parts = path.at(-1) === '' ? path.slice(0, -1) : path
  if (kind === 'cluster') {
    if (parts.length === 0) return { database: 0, masterName: '' }
    throw new SetupError('A Cluster has the database 0 only', ['Remove the path from the URL'])
  }
  if (kind === 'single') return { database: parseDatabase(parts), masterName: '' }
  const [masterText = '', ...rest] = parts
  const masterName = decoded(masterText) ?? ''
  if (masterName === '') {
    throw new SetupError('The URL of the engine does not say what the Sentinels call the master', [
      'Write it as in redis+sentinel://HOST:26379,HOST2:26379/MASTER-NAME',
    ])
  }
  return { database: parseDatabase(rest), masterName }
}

function parseDatabase(parts: readonly string[]): number {
  const [text = '0', ...rest] = parts
  if (rest.length === 0 && /^\d{1,6}$/.test(text)) return Number(text)
  throw new SetupError(
    `The path of the engine's URL is not the number of a database: "${parts.join('/')}"`,
    ['Write it as in redis://HOST:6379/0'],
  )
}

/** `host:port`, as a person reads it. */
export function hostPortText({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
