import { FileServiceError } from '../model/errors.ts'
import { requireMethods } from '../model/require.ts'
import type { PutOptions } from '../ports/blob-store.ts'

/** A running hash; a `Hash` of `node:crypto` is one. */
export interface IncrementalHash {
  update(bytes: Uint8Array): unknown
  digest(encoding: 'hex'): string
}

/** A digest that the content must have before it becomes visible. */
export interface ExpectedDigest {
  /** A fresh hash of the digest's algorithm. */
  readonly hash: IncrementalHash
  /**
   * Called once, after the last byte. Returns the expected digest in lower-case hexadecimal, or `undefined` if there is none.
   */
  expected(): string | undefined
  /**
   * Whether there will probably be no expected digest. Then, if the store can read back its content, that is hashed at the end, and
   * only if there is one: hashing takes a third of an upload's processor time. Default: no, each chunk is hashed as it arrives.
   */
  readonly isUnlikely?: boolean
}

/** The check of an upload's digest. */
export interface DigestCheck {
  /** For the store's `put`; absent if each chunk is hashed. */
  readonly onReadable?: Required<PutOptions>['onReadable']
  update(chunk: Uint8Array): void
  /** Called after the last chunk. */
  check(): Promise<void>
}

/**
 * Makes the check of a content by `digest`; `signal` ends the check.
 *
 * @throws TypeError when `digest` is not an {@link ExpectedDigest}, but for example the digest itself
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
