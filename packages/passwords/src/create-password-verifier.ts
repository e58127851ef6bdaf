import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import {
  having,
  requireCount,
  requireFunction,
  requireOptions,
  type PasswordVerifier,
} from '@holdfast/core'
import { type ComputeScrypt, computeScrypt as computeScryptApart } from './compute-scrypt.ts'
import { createHashingQueue } from './hashing-queue.ts'
import { isSealedPlainPassword, matchesSealedPassword, sealPlainPassword } from './hash-password.ts'
import { createPairDigest, rememberPasswords, type RememberOptions } from './remember-passwords.ts'
import {
  formatScryptHash,
  parseScryptHash,
  type ScryptCost,
  scryptCostProblem,
  standardScryptCost,
} from './scrypt-hash.ts'

export interface PasswordVerifierOptions extends RememberOptions {
  /**
   * Hashes computed at a time, by all verifiers together at most one for each processor. Several at once run in threads of
   * their own, which have a lower priority on Linux. One alone, and all where such threads cannot be started, run on Node's
   * thread pool, which also reads and writes files and has four threads unless `UV_THREADPOOL_SIZE` says otherwise.
   * Default: as many as there are processors, but at most 4, and at most half of the pool.
   */
  readonly concurrency?: number
  /** Verifications that may wait beside those; beyond that some are refused as `overloaded`. Default: 100. */
  readonly queueLimit?: number
  /** The cost of the hashes in use: what an unknown customer is made to cost. Default: {@link standardScryptCost}. */
  readonly cost?: ScryptCost
  /** Computes scrypt. Default: `node:crypto`, in those threads. */
  readonly computeScrypt?: ComputeScrypt
}

/**
 * A verifier for scrypt hashes in PHC form and for what `sealPlainPassword` returns.
 *
 * Passwords are compared as their UTF-8 bytes. A wrong password, an unknown customer and a customer whose password
 * stands in the file as plain text take the same steps and one computation of the same cost each, provided that the
 * hash has the cost that the verifier was made with. A right password is remembered until it was not used for
 * `rememberMs`, under a keyed digest together with its hash, and then costs next to nothing; a wrong one never is. To
 * compute its hash again would prove no more than that digest does. Of many first logins at once with one right
 * password, at most `concurrency` are computed.
 *
 * Addresses take turns, and while too many wait, the latest of the address of which most do is refused: a flood from a
 * few addresses delays a login from another by one computation for each of them. Rejects with `overloaded` then, and
 * with a `RangeError` for a hash that it does not understand.
 *
 * @throws RangeError for options that make no sense.
 */
export function createPasswordVerifier(options: PasswordVerifierOptions = {}): PasswordVerifier {
  requireOptions('createPasswordVerifier({ concurrency })', options, {
    'cost?': having(),
    'computeScrypt?': requireFunction,
    'rememberMs?': (what, value) => requireCount(what, value, 'milliseconds'),
    'now?': requireFunction,
  })
  const { cost = standardScryptCost, computeScrypt = computeScryptApart } = options
  const { concurrency = defaultConcurrency(), queueLimit = 100 } = options
  checkOptions({ cost, concurrency, queueLimit })
  const queue = createHashingQueue({ concurrency, limit: queueLimit })
  const digest = createPairDigest()
  const decoys = createDecoys(cost)

  const hasPassword = async (password: string, passwordHash: string | undefined) => {
    const isSealed = passwordHash !== undefined && isSealedPlainPassword(passwordHash)
    const isHash = passwordHash !== undefined && !isSealed
    const { cost, salt, hash: expected } = parseScryptHash(isHash ? passwordHash : decoys.hash)
    const computed = await computeScrypt(password, salt, expected.length, cost)
    const matchesHash = timingSafeEqual(computed, expected)
    const matchesSealed = matchesSealedPassword(password, isSealed ? passwordHash : decoys.sealed)
    return (isHash && matchesHash) || (isSealed && matchesSealed)
  }

  const verify: PasswordVerifier = (password, passwordHash, { address = '', signal } = {}) => {
    const key = digest(password, passwordHash ?? decoys.hash)
    return queue.run({ key, address, signal }, () => hasPassword(password, passwordHash))
  }

  return rememberPasswords(verify, options)
}

/** The system shares the processors out among all threads, so that hashing takes no more than half of the main thread's time. */
function defaultConcurrency(): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4
  return Math.max(1, Math.min(availableParallelism(), 4, Math.floor(threads / 2)))
}

/** Hashes for unknown customers, so that an attempt does the same work for every name. */
function createDecoys(cost: ScryptCost) {
  return {
    hash: formatScryptHash({ cost, salt: randomBytes(16), hash: randomBytes(32) }),
    sealed: sealPlainPassword(randomBytes(16).toString('base64')),
  }
}

function checkOptions(options: { cost: ScryptCost; concurrency: number; queueLimit: number }) {
  const { cost, concurrency, queueLimit } = options
  const problem = scryptCostProblem(cost)
  if (problem !== undefined) throw new RangeError(`The scrypt cost is unacceptable: ${problem}`)
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `The concurrency is ${concurrency}; it must be a whole number of at least 1`,
    )
  }
  if (!(queueLimit >= 0))
    throw new RangeError(`The queue limit is ${queueLimit}; it cannot be negative`)
}
