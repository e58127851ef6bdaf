/** What a store knows of a blob without reading it. */
export interface BlobInfo {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** When the blob was stored, by the store's clock. */
  readonly modifiedAt: Date
  /**
   * A strong validator (RFC 9110 §8.8.1), without the quotes: printable ASCII except `"`. Two blobs of different content
   * that were under one key never have the same; a blob keeps its own for life. (Of the same content they may, as in
   * stores that make it of the content.)
   */
  readonly etag: string
}
