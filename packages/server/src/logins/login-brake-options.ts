import { isIP } from 'node:net'
import { advice, rangeErrorOf, type LoginBrakeOptions } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { addressSetOf } from '../listen/address-set-of.ts'

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
