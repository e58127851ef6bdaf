import type { ResumableUpload } from '@holdfast/core'

/** How far an upload is; when it expires, or the entity tag of the file that it has become. */
export function progressHeaders({
  offset,
  expiresAt,
  published,
}: ResumableUpload): Record<string, string> {
  return {
    'Upload-Offset': String(offset),
    ...(published === undefined
      ? { 'Upload-Expires': expiresAt.toUTCString() }
      : { 'Upload-ETag': `"${published.etag}"` }),
  }
}

/** What was said of an upload when it began, or later. */
export function planHeaders({ plan }: ResumableUpload): Record<string, string> {
  return {
    ...(plan.length === undefined
      ? { 'Upload-Defer-Length': '1' }
      : { 'Upload-Length': String(plan.length) }),
    ...(plan.note !== undefined && { 'Upload-Metadata': plan.note }),
  }
}
