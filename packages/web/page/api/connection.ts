import type { ReadonlySignal } from '@preact/signals'
import {
  type Client,
  type FileDetails,
  type LinkRequest,
  type SignedLink,
  isHoldfastError,
  type HoldfastError,
} from '@holdfast/client/browser'

export interface CustomerCredentials {
  readonly customer: string
  readonly password: string
}

/** The page's connection to the server, as one customer. */
export interface Connection {
  readonly customer: string
  /** Retries nothing by itself: the page does, and shows it. */
  readonly client: Client
  /** Downloads content, and resumes by itself after the connection breaks. */
  readonly downloads: Pick<Client, 'download' | 'downloadMany'>
  /** Whether the server refuses the password, so that nothing is sent; `renew` ends that. */
  readonly isRefused: ReadonlySignal<boolean>
  renew(password: string): void
  /** The address of a route, such as `link/a`. */
  url(path: string): string
}

/** An entry of a list: a file, an earlier version of a file, or a folder. */
export interface ViewedFile extends FileDetails {
  /** Left out for the present file. */
  readonly version?: string
  /** Left out for files. A folder has the size of its files, and the time of the one that was changed last. */
  readonly folder?: Folder
}

/** Files whose names begin with the same words before ` - `. */
export interface Folder {
  /** What the names begin with. */
  readonly prefix: string
  readonly title: string
  /** How many of its files are loaded. */
  readonly count: number
}

/** Access to the content of a customer's files: by links if the server makes them. */
export interface CustomerAccess {
  readonly connection: Connection
  readonly hasLinks: boolean
  /** Aborts when the customer signs out. */
  readonly ended: AbortSignal
}

/** Resolves if the credentials are right. Only a login that was accepted learns that it may not list. */
export async function checkCredentials({ client }: Connection): Promise<void> {
  try {
    await client.listPages({ pageSizes: [1] }).next()
  } catch (error) {
    if (!isHoldfastError(error, 'not-allowed')) throw error
  }
}

/** The content of a file or of an earlier version, or its first `limit` bytes. */
export async function readFile(
  { downloads }: Connection,
  { name, version }: Pick<ViewedFile, 'name' | 'version'>,
  { limit, signal }: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<Blob> {
  const content = await downloads.download(name, { version, end: limit, signal })
  return content.blob()
}

/** Whether a file has exactly the content of `file`, which must fit into memory. */
export async function hasContent(
  connection: Connection,
  name: string,
  file: File,
  signal: AbortSignal,
): Promise<boolean> {
  const { size } = await connection.client.stat(name, { isRounded: true, signal })
  if (size !== file.size) return false
  const [theirs, ours] = await Promise.all([
    readFile(connection, { name }, { signal }).then((content) => content.arrayBuffer()),
    file.arrayBuffer(),
  ])
  const [one, other] = [new Uint8Array(theirs), new Uint8Array(ours)]
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** Whether this server has the route `path`, such as `link/a`. */
export async function hasRoute(connection: Connection, path: string): Promise<boolean> {
  try {
    const { status } = await fetch(connection.url(path), { method: 'OPTIONS' })
    return status === 204
  } catch {
    return false
  }
}

/** Makes a link by which anyone may GET a file, or upload one, for `expiresIn` seconds. Default: the server's, at most an hour. */
export function makeLink(
  connection: Connection,
  name: string,
  linkOptions: LinkRequest,
): Promise<SignedLink> {
  return connection.client.link(name, linkOptions)
}

/** Whether the server refused the name or the password. */
export function isRefusedLogin(error: unknown): error is HoldfastError {
  return isHoldfastError(error, 'invalid-credentials', 'missing-credentials')
}
