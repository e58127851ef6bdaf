import { createQuotaKeeper } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createLoginFailureCounter } from '../../src/logins/login-failure-counter.ts'
import {
  createPrimaryServices,
  type PrimaryServices,
  type ServersServices,
} from '../../src/workers/primary-services.ts'

/** The services of a primary without customers, whose passwords are all wrong. */
export function sharePrimaryServices(
  services: Partial<Parameters<typeof createPrimaryServices>[0]> = {},
  shared?: ServersServices,
): PrimaryServices {
  return createPrimaryServices(
    {
      certificate: undefined,
      credentials: createMemoryCredentialSource([]),
      customers: () => [],
      verifyPassword: async () => false,
      failures: createLoginFailureCounter(60_000),
      ...services,
    },
    createQuotaKeeper(createMemoryBlobStore()),
    {},
    { ...(shared && { shared }) },
  )
}
