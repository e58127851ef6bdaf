/** A file as `/list?details=1` shows it. */
export interface FileEntry {
  readonly name: string
  readonly size: number
  /** ISO 8601. */
  readonly modified: string
  readonly type: string
  readonly etag: string
}
