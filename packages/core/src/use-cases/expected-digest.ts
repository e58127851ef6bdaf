import { FileServiceError } from '../model/errors.ts'
import { requireMethods } from '../model/require.ts'
import type { PutOptions } from '../ports/blob-store.ts'

/** A running hash; a `Hash` of `node:crypto` is one. */
export interface IncrementalHash {
  update(bytes: Uint8Array): unknown
  digest(encoding: 'hex'): string
}

/** A digest to check the content against before it becomes visible. */
export interface ExpectedDigest {
  /** A fresh hash of the algorithm in question. */
  readonly hash: IncrementalHash
  /**
   * Called once, after the last byte. Returns the digest in lower-case hexadecimal, or `undefined` if there is nothing to
   * compare with.
   */
  expected(): string | undefined
  /**
   * Whether there is probably nothing to compare with. Then, where the store can read what it has of the content, that is
   * hashed at the end, if at all; to hash takes a third of an upload's processor time. Default: no, each chunk is hashed as it comes.
   */
  readonly isUnlikely?: boolean
}

/** The check of an upload's digest. */
export interface DigestCheck {
  /** For the store's `put`; left out where each chunk is hashed. */
  readonly onReadable?: Required<PutOptions>['onReadable']
  update(chunk: Uint8Array): void
  /** Called after the last chunk. */
  check(): Promise<void>
}

/**
 * Checks a content against `digest`; `signal` ends the check.
 *
 * @throws TypeError when `digest` is no such thing, but the digest itself for one
 */
export function createDigestCheck(
  digest: ExpectedDigest,
  signal: AbortSignal | undefined,
): DigestCheck {
  requireMethods('digest', digest, ['expected'])
  const { hash } = digest
  requireMethods('digest.hash', hash, ['update', 'digest'])
  let readBack: (() => AsyncIterable<Uint8Array>) | undefined
  return {
    ...(digest.isUnlikely === true && { onReadable: (read) => void (readBack = read) }),
    update(chunk) {
      if (readBack === undefined) hash.update(chunk)
    },
    async check() {
      const wanted = digest.expected()
      if (wanted === undefined) return
      for await (const chunk of readBack?.() ?? []) {
        signal?.throwIfAborted()
        hash.update(chunk)
      }
      const actual = hash.digest('hex')
      if (actual !== wanted) {
        throw new FileServiceError('digest-mismatch', `The content's digest is ${actual}`)
      }
    },
  }
}
