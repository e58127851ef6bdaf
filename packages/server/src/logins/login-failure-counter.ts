import {
  type FailureCount,
  type FailureCounter,
  advice,
  rangeErrorOf,
  type LoginBrakeOptions,
} from '@holdfast/core'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import type { Config } from '../config/resolve-config.ts'
import { addressSetOf } from '../listen/trusted-proxies.ts'

/**
 * A failure counter of this process, with a window of `windowMs` (at most 2^31 - 1), which forgets each key by itself
 * when its window is over, and does not keep the process alive for that. Long keys are kept as digests, so that they
 * cost little more than short ones. Who fails in vain without end cannot fill the memory either: each failure has cost
 * one password hash, so the hashing's concurrency bounds how many fit into a window, to some thousands.
 */
export function createLoginFailureCounter(windowMs: number): FailureCounter {
  // Only counted here; how many are too many is the core's to say.
  const limiter = new RateLimiterMemory({
    points: Number.MAX_SAFE_INTEGER,
    duration: windowMs / 1000,
  })
  let latestFailure: number | undefined
  const lookUp = async (key: string): Promise<FailureCount> => {
    const window = await limiter.get(failureKey(key))
    const forgottenInMs = window?.msBeforeNext ?? 0
    // The limiter's timer may be late, in a busy process.
    if (window === null || forgottenInMs <= 0) return none
    return { failures: window.consumedPoints, forgottenInMs }
  }

  return {
    // The usual cases, at every request: no failure ever, or none lately.
    read: (key) =>
      latestFailure === undefined || performance.now() - latestFailure > windowMs
        ? none
        : lookUp(key),
    async add(key) {
      latestFailure = performance.now()
      await limiter.consume(failureKey(key))
    },
  }
}

const none: FailureCount = { failures: 0, forgottenInMs: 0 }

/**
 * What is kept of the key of a failed login, at most 65 characters: a name that does not exist may be as long as the headers of
 * a request. The key as it is or a digest, which no key that is kept as it is can be equal to.
 */
export function failureKey(key: string): string {
  return key.length <= 64 ? `=${key}` : hash('sha256', key, 'base64url')
}

type BrakeConfig = Pick<
  Config,
  'login-failures-per-address' | 'login-failures-per-name' | 'login-failures-exempt'
>

/**
 * How the configuration sets the brake on bad logins.
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
    // The brake takes an IPv6 network of 64 bits for one address, as in `2001:db8::/64`.
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
