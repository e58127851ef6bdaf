import { randomBytes } from 'node:crypto'

/**
 * A new random password of 24 characters out of `A-Z a-z 0-9 - _`, more than 140 bits. It begins and ends with a letter
 * or a digit, so that no command takes it for an option and a double click selects it whole.
 */
export function generatePassword(): string {
  for (;;) {
    const password = randomBytes(18).toString('base64url')
    if (/^[a-z0-9].*[a-z0-9]$/i.test(password)) return password
  }
}
