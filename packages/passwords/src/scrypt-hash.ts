/** The parts of a password's scrypt hash. */
export interface ScryptHash {
  readonly cost: ScryptCost
  readonly salt: Buffer
  readonly hash: Buffer
}

const phcForm =
  /^\$scrypt\$ln=(\d{1,3}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{1,100})\$([A-Za-z0-9+/]{1,100})$/

/** The PHC string: `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, both in base64 without padding. */
export function formatScryptHash({ cost, salt, hash }: ScryptHash): string {
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Parses a PHC string. Salts may have 8 to 64 bytes, hashes 16 to 64 bytes, and costs must be within the limits of
 * `scryptCostProblem`.
 *
 * @throws RangeError whose message can end a sentence, and does not contain the string.
 */
export function parseScryptHash(text: string): ScryptHash {
  const [, ln, r, p, salt, hash] = phcForm.exec(text) ?? []
  if (salt === undefined || hash === undefined) {
    throw new RangeError('is not of the form $scrypt$ln=15,r=8,p=1$<salt>$<hash>')
  }
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  const problem = scryptCostProblem(cost)
  if (problem !== undefined) throw new RangeError(`asks for an unacceptable cost: ${problem}`)
  return { cost, salt: decode(salt, 'salt', 8), hash: decode(hash, 'hash', 16) }
}

function decode(base64: string, what: string, minBytes: number): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  // Node skips characters that it cannot decode, so only a canonical text is equal after decoding and encoding.
  if (unpadded(bytes) !== base64) throw new RangeError(`has a ${what} that is not base64`)
  if (bytes.length < minBytes || bytes.length > 64) {
    throw new RangeError(`has a ${what} of ${bytes.length} bytes; ${minBytes} to 64 are accepted`)
  }
  return bytes
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/**
 * The cost of one scrypt computation (RFC 7914 §2): it takes `128 * r * 2^ln` bytes of memory, and time in proportion to that times
 * `p`.
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
 * The cost of new hashes: 32 MiB of memory, and about 60 ms of one processor. It makes guesses expensive for a thief of the file, but
 * even the smallest server can afford two computations at a time.
 */
export const standardScryptCost: ScryptCost = { ln: 15, r: 8, p: 1 }

const maxMemoryBytes = 256 * 2 ** 20
const maxWork = 2 ** 22

/**
 * Why `cost` is not allowed, as the end of a sentence; `undefined` if it is. Besides the limits of RFC 7914, one computation may take
 * at most 256 MiB and sixteen times the work of {@link standardScryptCost}, so that no file of hashes can overload the server.
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

/** Whether two costs are equal, so that their computations take the same time. */
export function isSameScryptCost(one: ScryptCost, other: ScryptCost): boolean {
  return one.ln === other.ln && one.r === other.r && one.p === other.p
}
