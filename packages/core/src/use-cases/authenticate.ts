import { FileServiceError } from '../errors.ts'
import type { Customer } from '../model/customer.ts'
import type { LoginBrake } from '../model/login-brake.ts'
import type { CredentialSource, PasswordVerifier } from '../ports/credential-source.ts'

/** What somebody presents to be taken for a customer. */
export interface Login {
  readonly name: string
  readonly password: string
  /**
   * Where the attempt comes from, an IP address as a rule; what the brake on bad logins counts by. Attempts without one
   * count as coming from one place.
   */
  readonly address?: string
}

/**
 * The customer whom `login` proves to be there. A wrong password and an unknown customer are refused alike, in words
 * and, as far as the verifier keeps its promise, in time; both count as failures for the brake.
 *
 * @throws FileServiceError `missing-credentials`, `invalid-credentials`, `too-many-attempts`, `overloaded`
 */
export async function authenticate(
  credentials: CredentialSource,
  verifyPassword: PasswordVerifier,
  brake: LoginBrake,
  { name, password, address = '' }: Login,
): Promise<Customer> {
  if (name === '' || password === '') {
    throw new FileServiceError('missing-credentials', 'No auth headers')
  }
  await brake.check(name, address)
  const credential = await credentials.find(name)
  const verified = await verifyPassword(password, credential?.passwordHash)
  if (!verified || credential === undefined) {
    await brake.recordFailure(name, address)
    throw new FileServiceError('invalid-credentials', 'Invalid credentials')
  }
  const { quota } = credential
  return quota === undefined ? { name: credential.name } : { name: credential.name, quota }
}
