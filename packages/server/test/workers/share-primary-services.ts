import { createQuotaKeeper } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { createLoginFailureCounter } from '../../src/login-failure-counter.ts'
import {
  createPrimaryServices,
  type PrimaryServices,
  type CrossServerState,
} from '../../src/workers/primary-services.ts'
import { createRpcChannel, type RpcChannel, type Transport } from '../../src/workers/rpc-channel.ts'
import type { PrimaryHandlers, ReplicaHandlers } from '../../src/workers/worker-protocol.ts'
import { createWorkerServices } from '../../src/workers/worker-services.ts'

/** The services of a primary without customers, whose passwords are all wrong. */
export function sharePrimaryServices(
  services: Partial<Parameters<typeof createPrimaryServices>[0]> = {},
  shared?: CrossServerState,
): PrimaryServices {
  return createPrimaryServices(
    {
      certificate: undefined,
      credentials: createMemoryCredentialSource([]),
      allCredentials: () => [],
      verifyPassword: async () => false,
      failures: createLoginFailureCounter(60_000),
      ...services,
    },
    createQuotaKeeper(createMemoryBlobStore()),
    {},
    { ...(shared && { shared }) },
  )
}

/** Starts workers of one primary, each by a call with its number. */
export function openPrimary(shared?: CrossServerState) {
  const primaryServices = sharePrimaryServices({}, shared)
  return (number = 0) => {
    const takers: ((message: unknown) => void)[] = []
    const transport = (own: number): Transport => ({
      send: (message) => queueMicrotask(() => takers[1 - own]?.(message)),
      onMessage: (take) => void (takers[own] = take),
    })
    const worker = createWorkerServices(() => primary)
    const primary = createRpcChannel<PrimaryHandlers>(transport(0), worker.answers)
    const session = primaryServices.openSession(() => channel)
    const channel: RpcChannel<ReplicaHandlers> = createRpcChannel(transport(1), session.answers)
    session.sendState()
    const services = worker.open({ config: { ...resolveConfig(), workers: 2 }, number })
    return { ...services, die: () => session.end() }
  }
}
