import type { FileDetails } from '../api/description.ts'
import type { TransportResponse } from '../transport/transport.ts'

/** What the headers of a file's response say of it. */
export function detailsOf(response: TransportResponse, name: string, size: number): FileDetails {
  return {
    name,
    size,
    modified: new Date(response.header('last-modified') ?? NaN).toJSON(),
    type: response.header('content-type') ?? 'application/octet-stream',
    etag: response.header('etag') ?? '',
  }
}
