import type { IncomingMessage } from 'node:http'
import type { UploadOptions } from '@holdfast/core'

/**
 * The option of an upload of `request`'s body, to be made before the body is read, that frees the memory of each chunk
 * once it is stored. Left to the collector, memory outside of its heap makes it collect everything some forty times per
 * GiB, which is as much work as all the rest. Nothing where somebody else listens to the body, and may keep the chunks.
 */
export function releaseChunks(request: IncomingMessage): Pick<UploadOptions, 'release'> {
  return request.listenerCount('data') === 0 ? { release: free } : {}
}

function free({ buffer, byteLength }: Uint8Array): void {
  // What is only a part of its memory may have neighbours that are still needed.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
