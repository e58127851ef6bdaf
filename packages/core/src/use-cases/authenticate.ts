import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { requireText } from '../model/require.ts'
import type { LoginBrake } from '../policy/login-brake.ts'
import type { Credential, CredentialSource, PasswordVerifier } from '../ports/credential-source.ts'

/** The credentials of one attempt to log in. */
export interface Login {
  readonly name: string
  readonly password: string
  /**
   * Where the attempt comes from, usually an IP address; the brake counts failures by it. Attempts without an address
   * count as one address.
   */
  readonly address?: string
  /** Aborts when the client has gone: an attempt that has not begun by then is dropped, and not counted. */
  readonly signal?: AbortSignal
}

/**
 * Resolves to the customer if the password is right. A wrong password and an unknown customer are refused with the same
 * message and, if the verifier keeps its promise, after the same time; both count as failures for the brake.
 *
 * While the brake refuses, it refuses the right password, too. An attempt that waits is not checked, even if the verifier
 * remembers its password: otherwise an attacker could test passwords at full speed.
 *
 * @throws TypeError when the name or the password is no string
 * @throws FileServiceError `missing-credentials`, `invalid-credentials`, `too-many-attempts`, `overloaded`
 */
export async function authenticate(
  credentials: CredentialSource,
  verifyPassword: PasswordVerifier,
  brake: LoginBrake,
  { name, password, address = '', signal }: Login,
): Promise<Customer> {
  requireText('name', name)
  requireText('password', password)
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
  const isRight = await brake.attempt({ name, address, password, signal }, () => {
    const found = credentials.find(name)
    return found instanceof Promise ? found.then(verify) : verify(found)
  })
  if (!isRight || credential === undefined) {
    throw new FileServiceError('invalid-credentials', 'Invalid credentials')
  }
  return customerOf(credential)
}

/** Without the password's hash. Absent limits are left out. */
function customerOf({ name, quota, maxFiles }: Credential): Customer {
  // Most have no limit, and each request comes this way.
  if (quota === undefined && maxFiles === undefined) return { name }
  return {
    name,
    ...(quota !== undefined && { quota }),
    ...(maxFiles !== undefined && { maxFiles }),
  }
}

/** An unknown customer never authenticates, but the verifier takes as long as for a known one. */
async function refused(verdict: boolean | Promise<boolean>): Promise<false> {
  await verdict
  return false
}
