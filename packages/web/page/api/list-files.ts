import { ApiError } from './api-error.ts'
import type { Connection } from './connection.ts'
import type { FileEntry } from './file-entry.ts'

/** The first page is soon there, and the others are few. */
const [firstPage, furtherPages] = [1000, 10_000]

/** The customer's files, a page at a time. */
export async function* listFiles(
  connection: Connection,
  signal: AbortSignal,
): AsyncGenerator<readonly FileEntry[]> {
  let path: string | undefined = `list?details=1&limit=${firstPage}`
  while (path !== undefined) {
    const response: Response | undefined = await pageAt(connection, path, signal)
    if (response === undefined) return
    yield (await response.json()) as readonly FileEntry[]
    path = nextOf(response.headers.get('Link'))
  }
}

/** A list of nothing is an error of the API, and no error here. */
async function pageAt(connection: Connection, path: string, signal: AbortSignal) {
  try {
    return await connection.request(path, { signal })
  } catch (error) {
    if (error instanceof ApiError && error.message === 'No files uploaded yet') return undefined
    throw error
  }
}

/** The query of `Link: <…>; rel="next"`. The path is ours, whatever a proxy has made of it. */
function nextOf(link: string | null): string | undefined {
  const [, target] = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(link ?? '') ?? []
  const query = target?.slice(target.indexOf('?'))
  if (query === undefined) return undefined
  const parameters = new URLSearchParams(query)
  parameters.set('limit', String(furtherPages))
  return `list?${parameters}`
}
