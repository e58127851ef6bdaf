import type { HoldfastError } from '@holdfast/client/browser'
import { linkError, unreachable } from './link-error.ts'
import { sendBytes } from './send-bytes.ts'

export interface PiecesByLink {
  /** Where uploads by the link begin. */
  readonly place: URL
  readonly file: File
  readonly name: string
  readonly signal: AbortSignal
  readonly onSent: (bytes: number) => void
  /** Where an earlier attempt has begun. */
  readonly begunAt: string | undefined
  readonly onBegun: (address: string) => void
}

const protocol = { 'Tus-Resumable': '1.0.0' }

/**
 * Sends a file by tus, from where the last attempt ended. `false` if the server takes no uploads in pieces; it has got nothing then.
 *
 * @throws HoldfastError
 */
export async function sendInPieces(request: PiecesByLink): Promise<boolean> {
  const { file, signal, onSent } = request
  const found = await whereToGoOn(request)
  if (found === undefined) return false
  const { address, offset } = found
  onSent(offset)
  if (offset === file.size) return true
  await sendBytes({
    method: 'PATCH',
    url: new URL(address),
    headers: {
      ...protocol,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(offset),
    },
    bytes: file.slice(offset),
    signal,
    onSent: (bytes) => onSent(offset + bytes),
  })
  return true
}

async function whereToGoOn({ place, begunAt, onBegun, ...request }: PiecesByLink) {
  const { file, name, signal } = request
  if (begunAt !== undefined) {
    const { status, headers } = await ask(begunAt, { method: 'HEAD', signal }, 404)
    const offset = Number(headers.get('Upload-Offset'))
    // The server forgets an upload after a while.
    if (status !== 404) return { address: begunAt, offset }
  }
  const begin = {
    method: 'POST',
    headers: { 'Upload-Length': String(file.size), 'Upload-Metadata': `filename ${base64(name)}` },
    signal,
  }
  const { status, headers } = await ask(place, begin, 404)
  // The server has no such path.
  if (status === 404) return undefined
  const address = new URL(headers.get('Location') ?? '', place).href
  onBegun(address)
  return { address, offset: 0 }
}

/** The response, if its status is 2xx or `expected`. */
async function ask(url: URL | string, init: RequestInit, expected?: number): Promise<Response> {
  const headers = { ...protocol, ...(init.headers as Record<string, string> | undefined) }
  const sent = { ...init, headers, cache: 'no-store' } as const
  const response = await fetch(url, sent).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw unreachable(error)
  })
  if (response.ok || response.status === expected) return response
  throw await errorOf(response)
}

async function errorOf(response: Response): Promise<HoldfastError> {
  const body = await response.text().catch(() => '')
  return linkError(response.status, body, response.headers.get('Retry-After'))
}

/** Has the server forget what has arrived. */
export async function discardPieces(address: string): Promise<void> {
  // Otherwise it expires by itself.
  await fetch(address, { method: 'DELETE', headers: protocol }).catch(() => {})
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
