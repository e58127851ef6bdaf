import { type ScryptCost, scryptCostProblem } from './scrypt-cost.ts'

/** A password's scrypt hash, taken apart. */
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
 * Takes a PHC string apart: salts of 8 to 64 bytes, hashes of 16 to 64 bytes, costs within `scryptCostProblem`.
 *
 * @throws RangeError whose message ends a sentence and does not repeat the string.
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
  // Node skips what it cannot decode; only the canonical encoding comes back as it was.
  if (unpadded(bytes) !== base64) throw new RangeError(`has a ${what} that is not base64`)
  if (bytes.length < minBytes || bytes.length > 64) {
    throw new RangeError(`has a ${what} of ${bytes.length} bytes; ${minBytes} to 64 are accepted`)
  }
  return bytes
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
