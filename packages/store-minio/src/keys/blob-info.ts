import type { BlobInfo } from '@holdfast/core'

/** The description of the blob `name`, from its object's; `etag` is in quotes. */
export function blobInfo(
  name: string,
  { size, modifiedAt, etag }: Pick<BlobInfo, 'size' | 'modifiedAt' | 'etag'>,
): BlobInfo {
  return { name, size, modifiedAt, etag: etag.replaceAll('"', '') }
}
