import type { BlobInfo } from '@holdfast/core'
import type { WrittenObject } from './object-write.ts'

/**
 * Describes the object that was written. Its time is known only from `found`, a later look at the store. If that look
 * failed, or found the object of another put, the time of our own clock is used.
 */
export function describeWritten(
  { size, etag }: WrittenObject,
  name: string,
  found?: BlobInfo,
): BlobInfo {
  const written = { name, size, modifiedAt: new Date(), etag: etag.replaceAll('"', '') }
  return found?.etag === written.etag ? found : written
}
