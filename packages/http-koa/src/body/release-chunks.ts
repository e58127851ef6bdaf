import type { IncomingMessage } from 'node:http'
import type { UploadOptions } from '@holdfast/core'

/**
 * The upload option that frees the memory of each chunk of `request`'s body once it is stored. Make it before the body is
 * read. Without it, memory outside of the heap causes some forty full garbage collections for each GiB, which doubles the
 * work of an upload. No option if something else listens to the body, and may keep the chunks.
 */
export function releaseChunks(request: IncomingMessage): Pick<UploadOptions, 'release'> {
  return request.listenerCount('data') === 0 ? { release: free } : {}
}

function free({ buffer, byteLength }: Uint8Array): void {
  // Other chunks may share the memory of a chunk that is only a part of it.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
