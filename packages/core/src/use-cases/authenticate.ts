import { splitLoginName, type Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { requireText } from '../model/require.ts'
import type { LoginBrake } from '../policy/brakes.ts'
import type { Credential, CredentialSource, PasswordVerifier } from '../ports/credential-source.ts'

/** The credentials of one attempt to log in. */
export interface Login {
  /** The customer's name, or `CUSTOMER/LOGIN` for a further login of the customer. */
  readonly name: string
  readonly password: string
  /**
   * The address from which the attempt comes, usually an IP address; the brake counts failures by it. All attempts without an
   * address count as one address.
   */
  readonly address?: string
  /** Aborts when the client has left: an attempt that has not begun by then is dropped and not counted. */
  readonly signal?: AbortSignal
}

/**
 * Resolves with the customer if the password is right. A wrong password, an unknown name and a login that has ended are refused with
 * the same message and, if the verifier keeps its promise, after the same time; all count as failures for the brake.
 *
 * While the brake refuses attempts, it refuses the right password, too. While an attempt waits, its password is not checked, even
 * if the verifier remembers it: otherwise an attacker could test passwords at full speed.
 *
 * @throws TypeError when the name or the password is not a string
 * @throws FileServiceError `missing-credentials`, `invalid-credentials`, `too-many-attempts`, `overloaded`
 */
export async function authenticate(
  credentials: CredentialSource,
  verifyPassword: PasswordVerifier,
  brake: LoginBrake,
  { name, password, address = '', signal }: Login,
  now: () => number = Date.now,
): Promise<Customer> {
  requireText('name', name)
  requireText('password', password)
  if (name === '' || password === '') {
    throw new FileServiceError('missing-credentials', 'No auth headers')
  }
  const attempt = { name, address, signal }
  let credential: Credential | undefined
  const verify = (found: Credential | undefined) => {
    // A login that has ended is an unknown one: a verifier that remembers passwords answers the right one sooner.
    credential = found && hasEnded(found, now) ? undefined : found
    const verdict = verifyPassword(password, credential?.passwordHash, attempt)
    return credential === undefined ? refused(verdict) : verdict
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

/** Whether the login is refused from now on. */
export function hasEnded({ endsAtMs }: Credential, now: () => number): boolean {
  // Not `now() >= endsAtMs`: a login whose end is NaN would never end.
  return endsAtMs !== undefined && !(now() < endsAtMs)
}

/** The customer of a credential, without the password's hash and without absent fields. */
export function customerOf(credential: Credential): Customer {
  const { quota, maxFiles, may, expireAfterMs, keepReplacedMs } = credential
  const names = namesOf(credential)
  // Most customers have no limit, and each request calls this.
  const isPlain = quota === undefined && maxFiles === undefined && may === undefined
  if (isPlain && expireAfterMs === undefined && keepReplacedMs === undefined) return names
  return {
    ...names,
    ...(quota !== undefined && { quota }),
    ...(maxFiles !== undefined && { maxFiles }),
    ...(may !== undefined && { may }),
    ...(expireAfterMs !== undefined && { expireAfterMs }),
    ...(keepReplacedMs !== undefined && { keepReplacedMs }),
  }
}

/** The customer and the login. A name with a `/` is split only where the source says that it is a login's. */
function namesOf({ name, login }: Credential): Pick<Customer, 'name' | 'login'> {
  if (login === undefined) return { name }
  const names = splitLoginName(name)
  if (names.login === login) return names
  throw new TypeError(`The credential of "${name}" is not that of a login "${login}"`)
}

/** An unknown login never authenticates, but the verifier takes as long as for a known one. */
async function refused(verdict: boolean | Promise<boolean>): Promise<false> {
  await verdict
  return false
}
