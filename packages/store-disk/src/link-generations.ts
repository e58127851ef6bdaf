import { randomBytes } from 'node:crypto'
import type { LinkGenerations } from '@holdfast/core'
import type { CustomerTexts } from './customer-texts.ts'

/** The generations of links, each in a file of its own below `links/`; see the README. A customer without one has the first. */
export function createLinkGenerations(texts: CustomerTexts): LinkGenerations {
  const keyOf = (customer: string) => ({ customer, name: 'generation' })
  return {
    read: async (customer) => (await texts.read(keyOf(customer))) ?? '',
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      await texts.write(keyOf(customer), generation)
      return generation
    },
  }
}
