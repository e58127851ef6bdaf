import { scryptSync } from 'node:crypto'

/** The cost of a scrypt hash that takes so little that a test may hash as much as it likes. */
export const cheapCost = { ln: 4, r: 8, p: 1 } as const

/**
 * A hash of {@link cheapCost} for a customers file, the same each time. A server takes 0.1 s of a processor to check a password that
 * stands there in plain text, as it does for a hash of the standard cost.
 */
export function cheapHash(password: string): string {
  const { ln, r, p } = cheapCost
  const salt = 'salt of tests'
  const hash = scryptSync(password, salt, 32, { N: 2 ** ln, r, p })
  const [encodedSalt, encodedHash] = [Buffer.from(salt), hash].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  )
  return `$scrypt$ln=${ln},r=${r},p=${p}$${encodedSalt}$${encodedHash}`
}
