import { randomBytes } from 'node:crypto'
import type { LinkGenerations } from '@holdfast/core'
import type { CustomerObjects } from './customer-objects.ts'

/** The generations of links, each in an object of its own. A customer without one has the first. */
export function createLinkGenerations(objects: CustomerObjects): LinkGenerations {
  return {
    read: async (customer) => (await objects.read(customer)) ?? '',
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      await objects.write(customer, generation)
      return generation
    },
  }
}
