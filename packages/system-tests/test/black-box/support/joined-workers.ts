import type { Server } from 'node:http'
import { createServer } from 'node:net'
import {
  createQuotaKeeper,
  type BlobStore,
  type Credential,
  type CredentialSource,
  type FailureCounter,
  type LinkServiceOptions,
  type LoginBrakeOptions,
  type PasswordVerifier,
  type QuotaKeeper,
} from '@holdfast/core'
import { resolveConfig } from '../../../../server/src/config/resolve-config.ts'
import {
  createRpcChannel,
  type RpcChannel,
  type Transport,
} from '../../../../server/src/workers/rpc-channel.ts'
import { createPrimaryServices } from '../../../../server/src/workers/primary-services.ts'
import type {
  PrimaryHandlers,
  ReplicaHandlers,
} from '../../../../server/src/workers/worker-protocol.ts'
import { createWorkerServices } from '../../../../server/src/workers/worker-services.ts'

/** What a service is made of. */
export interface ServiceParts {
  readonly store: BlobStore
  readonly credentials: CredentialSource
  readonly failures: FailureCounter
  /** Default: the same. */
  readonly linkFailures?: FailureCounter
  readonly verifyPassword: PasswordVerifier
  readonly quotas?: QuotaKeeper
  readonly links?: Pick<LinkServiceOptions, 'publishLocks' | 'growingUploads'>
}

/** The parts of so many workers, which have those of one service in common as processes have them. */
export async function joinWorkers(
  parts: ServiceParts,
  credentials: readonly Credential[],
  workers: number,
  brake?: Omit<LoginBrakeOptions, 'counter'>,
): Promise<readonly ServiceParts[]> {
  const services = { ...parts, certificate: undefined, allCredentials: () => credentials }
  const shared = createPrimaryServices(services, createQuotaKeeper(parts.store), brake)
  return Promise.all(
    Array.from({ length: workers }, async (_, number) => {
      const [up, down] = createWires()
      const told = createWorkerServices(() => primary)
      const primary: RpcChannel<PrimaryHandlers> = createRpcChannel(up, told.answers)
      const session = shared.openSession(() => channel)
      const channel: RpcChannel<ReplicaHandlers> = createRpcChannel(down, session.answers)
      session.sendState()
      await new Promise((resolve) => setImmediate(resolve))
      const { store } = parts
      const opened = told.open({ config: { ...resolveConfig(), workers }, number })
      const { credentials, failures, linkFailures, verifyPassword } = opened
      const { quotas, links } = opened
      return {
        store,
        credentials,
        failures,
        linkFailures,
        verifyPassword,
        ...(quotas && { quotas }),
        ...(links && { links }),
      }
    }),
  )
}

/** Two ends that are as far apart as two processes. */
function createWires(): readonly [Transport, Transport] {
  const takers: ((message: unknown) => void)[] = []
  const end = (own: 0 | 1, other: 0 | 1): Transport => ({
    send(message) {
      const text = JSON.stringify(message)
      setImmediate(() => takers[other]?.(JSON.parse(text)))
    },
    onMessage: (take) => void (takers[own] = take),
  })
  return [end(0, 1), end(1, 0)]
}

/** One server whose connections go to these in turn. */
export function joinServers(servers: readonly Server[]) {
  let connections = 0
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    servers[connections++ % servers.length]?.emit('connection', socket),
  )
  // What begins with listening, such as looking for connections that are idle.
  servers.forEach((server) => server.emit('listening'))
  return Object.assign(front, {
    closeAllConnections: () => servers.forEach((server) => server.closeAllConnections()),
  })
}
