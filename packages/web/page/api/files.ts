import type { Connection } from './connection.ts'
import type { FileEntry } from './file-entry.ts'

const pathOf = (verb: 'serve' | 'delete' | 'upload', name: string) =>
  `${verb}/${encodeURIComponent(name)}`

/** Resolves if the credentials are right. */
export async function checkCredentials(connection: Connection): Promise<void> {
  // An empty page of an empty account is no error.
  await connection.request('list?limit=1&after=')
}

export async function deleteFile(
  connection: Connection,
  name: string,
  options: { readonly keepalive?: boolean } = {},
): Promise<void> {
  await connection.request(pathOf('delete', name), { method: 'DELETE', ...options })
}

/** The response with a file as its body, which is read as it comes. */
export function openFile(
  connection: Connection,
  name: string,
  signal: AbortSignal,
): Promise<Response> {
  return connection.request(pathOf('serve', name), { signal })
}

/** The content of a file, or its first `limit` bytes. */
export async function readFile(
  connection: Connection,
  name: string,
  options: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<Blob> {
  const { limit, signal } = options
  const response = await connection.request(pathOf('serve', name), {
    ...(limit !== undefined && { headers: { Range: `bytes=0-${limit - 1}` } }),
    ...(signal && { signal }),
  })
  return response.blob()
}

/** Whether a file has exactly the content of `file`, which is small enough for the memory. */
export async function hasContent(
  connection: Connection,
  name: string,
  file: File,
  signal: AbortSignal,
): Promise<boolean> {
  const { size } = await readEntry(connection, name)
  if (size !== file.size) return false
  const [theirs, ours] = await Promise.all([
    readFile(connection, name, { signal }).then((content) => content.arrayBuffer()),
    file.arrayBuffer(),
  ])
  const [one, other] = [new Uint8Array(theirs), new Uint8Array(ours)]
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** What the list says of one file. */
export async function readEntry(connection: Connection, name: string): Promise<FileEntry> {
  const { headers } = await connection.request(pathOf('serve', name), { method: 'HEAD' })
  return {
    name,
    size: Number(headers.get('Content-Length')),
    modified: new Date(headers.get('Last-Modified') ?? Date.now()).toISOString(),
    type: headers.get('Content-Type') ?? '',
    etag: headers.get('ETag') ?? '',
  }
}
