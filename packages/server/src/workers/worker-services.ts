import { linkLimits } from '@holdfast/http-koa'
import {
  countOf,
  type Credential,
  type PasswordVerifier,
  isLimited,
  noClaim,
  type QuotaClaim,
  type QuotaKeeper,
  type RevocableLocks,
} from '@holdfast/core'
import { rememberPasswords } from '@holdfast/passwords'
import type { SharedServices } from '../serve/open-shared-services.ts'
import { countedLimit } from '../shared/open-shared-state.ts'
import type { ReadCertificate } from '../tls/open-certificate.ts'
import type { RpcChannel } from './rpc-channel.ts'
import {
  createReplicatedFailureCounter,
  createReplicatedCounter,
  stepOfLimit,
  type ReplicatedCounter,
} from './replicated-counters.ts'
import {
  mapSharedCounters,
  type PerSharedCounter,
  type PrimaryHandlers,
  type ReplicaHandlers,
  type SharedCount,
  type WorkerStart,
} from './worker-protocol.ts'
import type { QuotaHandlers } from './quota-server.ts'

import { createHoldClient, leaseMs, type LockHandlers } from './locks.ts'

/** A worker's handlers for the data from its primary, and the shared services made from it. */
export interface WorkerServices {
  readonly answers: ReplicaHandlers
  /** Call this after the primary has sent everything for the first time. */
  open(start: WorkerStart): SharedServices
}

/**
 * The worker's side of the shared services; see `createPrimaryServices`. The worker itself decides what every request needs:
 * remembered passwords, their brake, the limits. For a password that is not remembered, and for uploads of customers with a quota, it
 * asks the primary.
 */
export function createWorkerServices(primary: () => RpcChannel<PrimaryHandlers>): WorkerServices {
  let credentials = new Map<string, Credential>()
  let current: ReadCertificate | undefined
  let use: (certificate: ReadCertificate) => void = () => {}
  const failures = createReplicatedFailureCounter()
  const holds = createHoldClient(primary)
  const early: SharedCount[] = []
  let apply: (change: SharedCount) => void = (change) => void early.push(change)

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
      ...holds.answers,
    },
    open({ config, number }) {
      const counters = openCounters(config, primary())
      apply = ({ counter, ...change }) => counters[counter].apply(change)
      early.forEach(apply)
      const { all, byLinks, growingUploads, ...keyed } = counters
      const first = current
      return {
        writer: number,
        companions: holds.companions,
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
        allCredentials: () => [...credentials.values()],
        verifyPassword: rememberPasswords(verifyElsewhere(primary())),
        failures,
        linkFailures: {
          read: (key) => failures.read(key),
          add: (key) => primary().ask('linkFailed', { key }),
        },
        quotas: createQuotaClient(primary()),
        links: { publishLocks: createLockClient(primary()), growingUploads },
        requestCounters: { all: countOf(all, ''), byLinks: countOf(byLinks, ''), ...keyed },
        customersState: () => ({
          count: [...credentials.values()].filter(({ login }) => login === undefined).length,
        }),
        reload: async () => true,
        close: async () => {},
      }
    },
  }
}

function openCounters(
  config: WorkerStart['config'],
  primary: RpcChannel<PrimaryHandlers>,
): PerSharedCounter<ReplicatedCounter> {
  const { byLinks, fromNetwork } = linkLimits(config['max-requests'])
  const limits: PerSharedCounter<number> = {
    all: config['max-requests'],
    byLinks,
    perCustomer: countedLimit(config),
    byLinksPerCustomer: countedLimit(config),
    byLinksPerNetwork: fromNetwork,
    // Other workers must know of each, or they may discard it.
    growingUploads: 1,
  }
  return mapSharedCounters((counter) =>
    createReplicatedCounter(stepOfLimit(limits[counter], config.workers), (change) =>
      primary.notify('count', { counter, ...change }),
    ),
  )
}

/** Verifies passwords in the primary: so their number is limited for all workers, which stay free for requests. */
function verifyElsewhere(primary: RpcChannel<PrimaryHandlers>): PasswordVerifier {
  return (password, passwordHash, { address = '', name = '', signal } = {}) =>
    primary.ask('verify', { name, address, password, passwordHash }, signal)
}

/** A keeper whose accounts are in the primary; see `createQuotaServer`. */
export function createQuotaClient(primary: RpcChannel<QuotaHandlers>): QuotaKeeper {
  return {
    async claim(customer, name, size = 0, upload?: string) {
      // The primary need not be asked.
      if (!isLimited(customer)) return noClaim
      const claimed = { customer, name, size, ...(upload !== undefined && { upload }) }
      return remoteClaim(primary, await primary.ask('claim', claimed))
    },

    async free(customer, name, remove, source?: string) {
      if (!isLimited(customer)) return remove()
      const removal = { customer, name, ...(source !== undefined && { source }) }
      const { id } = await primary.ask('beginRemoval', removal)
      const keeping = setInterval(() => primary.notify('keepRemoval', { id }), leaseMs / 3).unref()
      try {
        const removed = await remove().finally(() => clearInterval(keeping))
        // Await this: a client that reads that its file is deleted expects the space to be free.
        await primary.ask('endRemoval', { id, removed })
        return removed
      } catch (error) {
        primary.notify('endRemoval', { id })
        throw error
      }
    },

    async beginUpload(customer, most, begin) {
      const { id } = await primary.ask('beginUpload', { customer, most })
      try {
        const upload = await begin()
        primary.notify('endBeginning', { id, upload: upload.id })
        return upload
      } catch (error) {
        primary.notify('endBeginning', { id })
        throw error
      }
    },
    async endUpload(customer, upload) {
      // If the primary does not answer, it has ended, and counts again after its restart. The upload has ended in any case.
      await primary.ask('endUpload', { customer, upload }).catch(() => {})
    },

    async release(customer, upload) {
      if (isLimited(customer)) await primary.ask('release', { customer, upload })
    },
    releaseGone: async () => primary.ask('releaseGone', {}),
  }
}

/** A claim that the primary knows as `id`, and for which the primary has reserved `room` bytes. */
function remoteClaim(
  primary: RpcChannel<QuotaHandlers>,
  { id, room }: { id: number; room: number },
): QuotaClaim {
  /** How many bytes have arrived and were not reported to the primary. */
  let unreported = 0
  let left = room
  let ended = false
  let settled = false

  const ask = async () => {
    const bytes = unreported
    unreported = 0
    left = (await primary.ask('grow', { id, bytes })).room - unreported
  }
  return {
    grow(bytes) {
      if (ended) return undefined
      unreported += bytes
      left -= bytes
      return left < 0 ? ask() : undefined
    },
    stage(offset) {
      if (ended) return
      unreported = 0
      primary.notify('stage', { id, offset })
    },
    prepare: async () => primary.ask('prepare', { id, bytes: unreported }),
    settle() {
      settled = true
    },
    end() {
      if (!ended) primary.notify('end', { id, settled })
      ended = true
    },
  }
}

/** Locks that are kept in the primary; see `createLockServer`. */
export function createLockClient(primary: RpcChannel<LockHandlers>): RevocableLocks {
  return async (key) => {
    const { id, ...held } = await primary.ask('takeLock', { key })
    return { ...held, release: () => primary.notify('releaseLock', { id }) }
  }
}
