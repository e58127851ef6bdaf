import { setTimeout as delay } from 'node:timers/promises'
import { expectOk } from './answer.ts'
import type { CustomerClient } from './customer-client.ts'

/** How long workers beside the one that ends links may still open them, and somewhat more. */
const noticedMs = 600

/** Ends all links of the customer, and waits until every worker refuses them. */
export async function endLinks(customer: CustomerClient): Promise<void> {
  expectOk(await customer.send('DELETE', '/links'))
  await delay(noticedMs)
}
