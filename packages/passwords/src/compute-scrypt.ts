import { scrypt } from 'node:crypto'
import { type ScryptCost, scryptMemory } from './scrypt-cost.ts'

/** Computes scrypt (RFC 7914) of a password's UTF-8 bytes; resolves to `length` bytes. */
export type ComputeScrypt = (
  password: string,
  salt: Uint8Array,
  length: number,
  cost: ScryptCost,
) => Promise<Buffer>

/** {@link ComputeScrypt} on Node's thread pool: the caller's thread goes on meanwhile. */
export const computeScrypt: ComputeScrypt = (password, salt, length, cost) =>
  new Promise((resolve, reject) => {
    // OpenSSL refuses at 32 MiB by default, and counts a few blocks more than the algorithm's own.
    const maxmem = scryptMemory(cost) + 128 * cost.r * 4 + 1024
    const options = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem }
    scrypt(password, salt, length, options, (error, derived) => {
      if (error) reject(error)
      else resolve(derived)
    })
  })
