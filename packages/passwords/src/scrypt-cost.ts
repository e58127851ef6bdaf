/**
 * What one scrypt computation takes (RFC 7914 §2): `128 * r * 2^ln` bytes of memory, and time in proportion to that
 * times `p`.
 */
export interface ScryptCost {
  /** Binary logarithm of the CPU and memory cost N. */
  readonly ln: number
  /** Block size. */
  readonly r: number
  /** Parallelisation. */
  readonly p: number
}

/**
 * The cost of new hashes: 32 MiB of memory, about 60 ms of one processor. It makes guesses expensive for a thief of the
 * file, while two computations at a time, which is what a verifier does, stay affordable on the smallest of servers.
 */
export const standardScryptCost: ScryptCost = { ln: 15, r: 8, p: 1 }

const maxMemoryBytes = 256 * 2 ** 20
const maxWork = 2 ** 22

/**
 * What is wrong with `cost`, as the end of a sentence; `undefined` if nothing is. Beside RFC 7914's own limits, one
 * computation may take at most 256 MiB and sixteen times the work of {@link standardScryptCost}, so that a file of
 * hashes cannot bring the server down.
 */
export function scryptCostProblem({ ln, r, p }: ScryptCost): string | undefined {
  if (![ln, r, p].every((value) => Number.isSafeInteger(value) && value >= 1)) {
    return 'ln, r and p must be whole numbers of at least 1'
  }
  if (ln > 24 || r > 64 || p > 64) return 'ln may be at most 24, r and p at most 64'
  if (ln >= 16 * r) return `ln must be below ${16 * r} where r is ${r}`
  if (scryptMemory({ ln, r, p }) > maxMemoryBytes) return 'it takes more than 256 MiB of memory'
  if (2 ** ln * r * p > maxWork) return 'it takes more than sixteen times the standard work'
  return undefined
}

/** The memory of one computation in bytes, without the overhead of the library. */
export function scryptMemory({ ln, r, p }: ScryptCost): number {
  return 128 * r * (2 ** ln + p)
}

/** Whether computations of both costs take the same time. */
export function isSameScryptCost(one: ScryptCost, other: ScryptCost): boolean {
  return one.ln === other.ln && one.r === other.r && one.p === other.p
}
