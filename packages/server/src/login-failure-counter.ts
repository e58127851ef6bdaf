import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import {
  type FailureCount,
  type FailureCounter,
  advice,
  rangeErrorOf,
  type LoginBrakeOptions,
} from '@holdfast/core'
import type { Config } from './config/resolve-config.ts'
import { addressSetOf } from './listen.ts'

/**
 * A failure counter of this process, with a period of `windowMs` (at most 2^31 - 1). It forgets each key when its period is over,
 * and does not keep the process alive for that. Long keys are kept as digests, so that they cost little more than short ones. An
 * attacker cannot fill the memory with failures: each failure costs one password hash, so the concurrency of hashing limits the
 * failures in a period to some thousands.
 */
export function createLoginFailureCounter(windowMs: number): FailureCounter {
  // This only counts; the core decides how many are too many.
  const limiter = new RateLimiterMemory({
    points: Number.MAX_SAFE_INTEGER,
    duration: windowMs / 1000,
  })
  let latestFailure: number | undefined
  const lookUp = async (key: string): Promise<FailureCount> => {
    const window = await limiter.get(failureKey(key))
    const forgottenInMs = window?.msBeforeNext ?? 0
    // The limiter's timer may be late in a busy process.
    if (window === null || forgottenInMs <= 0) return noFailures
    return { failures: window.consumedPoints, forgottenInMs }
  }

  return {
    // The usual cases, at every request: there was no failure, or none recently.
    read: (key) =>
      latestFailure === undefined || performance.now() - latestFailure > windowMs
        ? noFailures
        : lookUp(key),
    async add(key) {
      latestFailure = performance.now()
      await limiter.consume(failureKey(key))
    },
  }
}

/** The count of a key without failures. */
export const noFailures: FailureCount = { failures: 0, forgottenInMs: 0 }

/**
 * The text that is kept for the key of a failed login, at most 65 characters: an unknown name may be as long as the headers of a
 * request. It is the key itself after `=`, or the digest of a long key; the two are never equal.
 */
export function failureKey(key: string): string {
  return key.length <= 64 ? `=${key}` : hash('sha256', key, 'base64url')
}

type BrakeConfig = Pick<
  Config,
  'login-failures-per-address' | 'login-failures-per-name' | 'login-failures-exempt'
>

/**
 * The options of the brake on bad logins from the configuration.
 *
 * @throws SetupError if an exempt address is neither an address nor a subnet
 */
export function loginBrakeOptions(config: BrakeConfig): Omit<LoginBrakeOptions, 'counter'> {
  const isMember = addressSetOf(
    'The exempt addresses (--login-failures-exempt)',
    config['login-failures-exempt'] ?? [],
    refuseSmallNetwork,
  )
  return {
    failuresPerAddress: config['login-failures-per-address'],
    failuresPerName: config['login-failures-per-name'],
    // For the brake, an IPv6 network of 64 bits is one address, such as `2001:db8::/64`.
    isExempt: (address) => isMember(address.split('/')[0] ?? ''),
  }
}

function refuseSmallNetwork(member: string): void {
  const [address = '', prefix = '128'] = member.split('/')
  if (isIP(address) === 6 && Number(prefix) > 64) {
    const problem = `"${member}" is less than an IPv6 network of 64 bits, which counts as one address`
    throw rangeErrorOf(advice(problem, `write ${address}/64`))
  }
}
