import { linkLimits } from '@holdfast/http-koa'
import type { Credential, PasswordVerifier } from '@holdfast/core'
import { rememberPasswords } from '@holdfast/passwords'
import type { SharedServices } from '../serve/open-shared-services.ts'
import type { ReadCertificate } from '../tls/read-certificate.ts'
import type { RpcChannel } from './rpc-channel.ts'
import { createQuotaClient } from './quota-client.ts'
import { createReplicatedFailureCounter } from './replicated-failure-counter.ts'
import { createTurnClient } from './turn-client.ts'
import type { PrimaryHandlers, ReplicaHandlers, WorkerOrder } from './worker-protocol.ts'
import {
  createReplicatedRequestCounter,
  stepOfLimit,
  type ReplicatedCount,
  type ReplicatedRequestCounter,
} from './replicated-request-counter.ts'

/** What the primary sends to a worker, and the shared services as the worker has them. */
export interface WorkerServices {
  readonly answers: ReplicaHandlers
  /** To be opened when the primary has sent everything for the first time. */
  open(order: WorkerOrder): SharedServices
}

/**
 * The shared services as the primary sends them; see `createPrimaryServices`. Whatever happens at every request is decided here:
 * passwords that are remembered, the brake for them, the limits. A login that is not remembered, and uploads of customers
 * with a quota, ask the primary.
 */
export function createWorkerServices(primary: () => RpcChannel<PrimaryHandlers>): WorkerServices {
  let credentials = new Map<string, Credential>()
  let current: ReadCertificate | undefined
  let use: (certificate: ReadCertificate) => void = () => {}
  const failures = createReplicatedFailureCounter()
  const counts: ReplicatedCount[] = []
  let apply: ReplicatedRequestCounter['apply'] = (change) => void counts.push(change)

  return {
    answers: {
      customers(all) {
        credentials = new Map(all.map((one) => [one.name, one]))
      },
      certificate(next) {
        current = next
        use(next)
      },
      failure: (failure) => failures.apply(failure),
      count: (change) => apply(change),
    },
    open({ config, place }) {
      const requestCounter = openCounter(config, primary())
      counts.forEach(requestCounter.apply)
      apply = requestCounter.apply
      const first = current
      return {
        writer: place,
        certificate: first && {
          current: () => current ?? first,
          onReplaced: (callback) => void (use = callback),
        },
        credentials: {
          find: (name) => credentials.get(name),
          async linkKey(name) {
            const { exists, key } = await primary().ask('linkKey', { name })
            const bytes = Buffer.from(key, 'base64')
            return exists === 1 ? bytes : undefined
          },
        },
        verifyPassword: rememberPasswords(verifyElsewhere(primary())),
        failures,
        linkFailures: {
          read: (key) => failures.read(key),
          add: (key) => primary().ask('linkFailed', { key }),
        },
        quotas: createQuotaClient(primary()),
        linkTurns: createTurnClient(primary()),
        linkAppends: requestCounter,
        requestCounter,
        customersState: () => ({ count: credentials.size }),
        reload: async () => true,
        close: async () => {},
      }
    },
  }
}

/** Whether `key` is that of an upload, which grows: others may discard it unless they know. No other key has two slashes. */
const isAppend = (key: string) => key.includes('//')

function openCounter(
  config: WorkerOrder['config'],
  primary: RpcChannel<PrimaryHandlers>,
): ReplicatedRequestCounter {
  const all = stepOfLimit(config['max-requests'], config.workers)
  const each = stepOfLimit(config['max-requests-per-customer'], config.workers)
  const { byLinks, fromNetwork } = linkLimits(config['max-requests'])
  const links = stepOfLimit(byLinks, config.workers)
  const network = stepOfLimit(fromNetwork, config.workers)
  return createReplicatedRequestCounter(
    (key) => {
      if (key === '') return all
      if (key === 'link/') return links
      if (key.startsWith('from/')) return network
      return isAppend(key) ? 1 : each
    },
    (change) => primary.notify('count', change),
  )
}

/** Hashes in one place are bounded in one place, and leave the workers to the requests. */
function verifyElsewhere(primary: RpcChannel<PrimaryHandlers>): PasswordVerifier {
  return (password, passwordHash, { address = '', name = '', signal } = {}) =>
    primary.ask('verify', { name, address, password, passwordHash }, signal)
}
