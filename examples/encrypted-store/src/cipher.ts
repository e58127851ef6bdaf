import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { BlobKey } from '@holdfast/core'
import { saltSize, tagSize } from './envelope.ts'

const algorithm = 'aes-256-gcm'

/** Seals the chunks of one file, and opens them. */
export interface Cipher {
  seal(chunk: Uint8Array, place: Place): Uint8Array
  /** Throws where a bit of it, its place or its file is another. */
  open(sealed: Uint8Array, place: Place): Uint8Array
}

/** Where in the file a chunk is: one that is moved, or an end that is cut off, does not fit. */
export interface Place {
  readonly index: number
  readonly isLast: boolean
}

/**
 * The cipher of the file at `key`. Each salt gives a key of its own, with which no two chunks have the same place, so
 * that a place is nonce enough.
 */
export function createCipher(masterKey: Uint8Array, salt: Uint8Array, key: BlobKey): Cipher {
  if (salt.length !== saltSize) throw new Error('The file has no header')
  // Neither name has a slash in it.
  const fileKey = Buffer.from(
    hkdfSync('sha256', masterKey, salt, `${key.customer}/${key.name}`, 32),
  )
  return {
    seal(chunk, place) {
      const cipher = createCipheriv(algorithm, fileKey, nonceOf(place))
      return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, place) {
      const end = sealed.length - tagSize
      const decipher = createDecipheriv(algorithm, fileKey, nonceOf(place), {
        authTagLength: tagSize,
      })
      decipher.setAuthTag(sealed.subarray(Math.max(0, end)))
      return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()])
    },
  }
}

function nonceOf({ index, isLast }: Place): Uint8Array {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(index, 0, 6)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}
