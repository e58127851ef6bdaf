import { LRUCache } from 'lru-cache'

/** A small object, whole, as it was when the store sent it. */
export interface KeptObject {
  readonly modifiedAt: Date
  /** In quotes. */
  readonly etag: string
  readonly bytes: Uint8Array
}

/**
 * Small objects that were asked for lately, by their keys. One is to be served only when the store has said that it is
 * what it was.
 */
export interface KeptObjects {
  readonly find: (key: string) => KeptObject | undefined
  readonly keep: (key: string, object: KeptObject) => void
  readonly drop: (key: string) => void
}

/** What an object takes beside its bytes, in bytes. */
const overhead = 1024

/** A strong entity tag (RFC 9110 §8.8.3): where it is the same, so are the bytes. */
const strongTag = /^"[^"]+"$/

/** Keeps `maxBytes` of objects at most; of 0 none. */
export function createKeptObjects(maxBytes: number): KeptObjects {
  const kept = new LRUCache<string, KeptObject>({
    // Of 0 it would make no limit at all.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ bytes }) => bytes.length + overhead,
  })
  return {
    find: (key) => kept.get(key),
    keep: (key, object) => {
      if (strongTag.test(object.etag)) kept.set(key, object)
    },
    drop: (key) => void kept.delete(key),
  }
}
