/** What a store knows about a blob without reading it. */
export interface BlobInfo {
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** When the blob was stored, by the store's clock. */
  readonly modifiedAt: Date
  /**
   * A strong validator (RFC 9110 §8.8.1), without the quotes: printable ASCII except `"`. Two blobs with different content under
   * the same key never have the same etag, and the etag of a blob never changes. (Two blobs with the same content may have the
   * same etag, for example in stores that derive it from the content.)
   */
  readonly etag: string
}
