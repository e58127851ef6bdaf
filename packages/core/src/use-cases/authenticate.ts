import { FileServiceError } from '../errors.ts'
import type { Customer } from '../model/customer.ts'
import type { LoginBrake } from '../model/login-brake.ts'
import type { Credential, CredentialSource, PasswordVerifier } from '../ports/credential-source.ts'

/** What somebody presents to be taken for a customer. */
export interface Login {
  readonly name: string
  readonly password: string
  /**
   * Where the attempt comes from, an IP address as a rule; what the brake on bad logins counts by. Attempts without one
   * count as coming from one place.
   */
  readonly address?: string
  /** Aborts when nobody waits for the answer any more: what has not begun by then is left undone, and not counted. */
  readonly signal?: AbortSignal
}

/**
 * The customer whom `login` proves to be there. A wrong password and an unknown customer are refused alike, in words
 * and, as far as the verifier keeps its promise, in time; both count as failures for the brake.
 *
 * While the brake holds, the right password is refused as well, and while an attempt has to wait for others, it is not
 * looked at: to let one pass that the verifier remembers would tell it from wrong ones, as many of them and as quickly
 * as somebody likes to try.
 *
 * @throws FileServiceError `missing-credentials`, `invalid-credentials`, `too-many-attempts`, `overloaded`
 */
export async function authenticate(
  credentials: CredentialSource,
  verifyPassword: PasswordVerifier,
  brake: LoginBrake,
  { name, password, address = '', signal }: Login,
): Promise<Customer> {
  if (name === '' || password === '') {
    throw new FileServiceError('missing-credentials', 'No auth headers')
  }
  const attempt = { name, address, signal }
  let credential: Credential | undefined
  const verify = (found: Credential | undefined) => {
    credential = found
    const verdict = verifyPassword(password, found?.passwordHash, attempt)
    return found === undefined ? refused(verdict) : verdict
  }
  const isRight = await brake.attempt(attempt, () => {
    const found = credentials.find(name)
    return found instanceof Promise ? found.then(verify) : verify(found)
  })
  if (!isRight || credential === undefined) {
    throw new FileServiceError('invalid-credentials', 'Invalid credentials')
  }
  const { quota, maxFiles } = credential
  return {
    name: credential.name,
    ...(quota !== undefined && { quota }),
    ...(maxFiles !== undefined && { maxFiles }),
  }
}

/** No password is right for nobody, but the verifier takes its time. */
async function refused(verdict: boolean | Promise<boolean>): Promise<false> {
  await verdict
  return false
}
