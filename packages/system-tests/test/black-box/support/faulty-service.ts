import { createFaults, injectFaults, type Faults, type FaultStep } from '@holdfast/contract/faults'
import type { BlobStore } from '@holdfast/core'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectExceeded, expectOk } from './answer.ts'
import type { CustomerClient } from './customer-client.ts'
import { expectNoLitter } from './expect-no-litter.ts'
import { newer, older } from './faulty-requests.ts'
import type { RunningService, StartService } from './running-service.ts'

/** What each customer may keep, in bytes. */
const quota = 600_000

/** One for each fault, so that one service meets them all. */
const customers = Array.from({ length: 100 }, (_, index) => ({
  name: `customer ${index + 1}`,
  password: 'p',
  quota,
}))

/** A service whose store fails as planned. */
export interface FaultyService {
  readonly service: RunningService
  readonly faults: Faults
  /**
   * The nth customer, who keeps the file `a`. The service has counted what that is only if it is told to; otherwise it
   * does so at the next upload.
   */
  customer(nth: number, isCounted: boolean): Promise<CustomerClient>
  /** Nothing is under way or lies around; the customer can write to every name, keep exactly the quota, and no more. */
  expectSound(client: CustomerClient): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startFaultyService(start: StartService): Promise<FaultyService> {
  const faults = createFaults()
  let sound: BlobStore | undefined
  const wrap = (store: BlobStore) => injectFaults((sound = store), faults)
  const service = await start({ customers, wrap })
  return {
    service,
    faults,
    async customer(nth, isCounted) {
      const { name, password } = customers[nth - 1]!
      const client = service.as({ name, password })
      if (isCounted) expectOk(await client.put('a', older))
      else await sound!.put({ customer: name, name: 'a' }, new Blob([older]).stream())
      return client
    },
    async expectSound(client) {
      await until('no call of the store is under way', () => faults.underWay() === 0)
      await expectNoLitter(service)
      expectOk(await client.put('a', newer))
      expectOk(await client.put('b', newer))
      expectOk(await client.put('rest', 'r'.repeat(quota - 2 * newer.length)))
      expectExceeded(await client.put('more', '1'))
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** The customer keeps exactly these files. */
export async function expectKept(
  client: CustomerClient,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  expect(await client.names()).to.deep.equal(Object.keys(files))
  for (const [name, content] of Object.entries(files)) {
    expect((await client.text(name)) === content, `content of ${name}`).to.equal(true)
  }
}

/** Whether the store has done by `step` what the request wanted. */
export function isDone({ method, moment }: FaultStep): boolean {
  return moment === 'answer' && (method === 'put' || method === 'delete')
}
