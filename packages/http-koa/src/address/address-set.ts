import { BlockList, isIP } from 'node:net'

/**
 * Whether an IP address is one of `members`: addresses, or subnets as in `10.0.0.0/8`. What is no address is not.
 *
 * @throws RangeError whose message ends a sentence (`"x" is not …`) for what is no address or subnet
 */
export function createAddressSet(members: readonly string[]): (address: string) => boolean {
  // The usual set, asked at every login: an empty list would still parse the address.
  if (members.length === 0) return () => false
  const list = new BlockList()
  for (const member of members) add(list, member)
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

function add(list: BlockList, member: string): void {
  const [address = '', prefix, ...more] = member.split('/')
  const bits = isIP(address) === 6 ? 128 : 32
  const length = prefix === undefined ? bits : Number(prefix)
  const isLength = /^\d{1,3}$/.test(prefix ?? '0') && length <= bits
  if (isIP(address) === 0 || !isLength || more.length > 0) {
    throw new RangeError(
      `"${member}" is not an address, such as 10.1.2.3, or a subnet, such as 10.0.0.0/8`,
    )
  }
  list.addSubnet(address, length, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
