import { linkLimits } from '@holdfast/http-koa'
import {
  type Credential,
  type PasswordVerifier,
  isLimited,
  type QuotaClaim,
  type QuotaKeeper,
  type KeyedTurns,
} from '@holdfast/core'
import { rememberPasswords } from '@holdfast/passwords'
import type { SharedServices } from '../serve/open-shared-services.ts'
import type { ReadCertificate } from '../tls/open-certificate.ts'
import type { RpcChannel } from './rpc-channel.ts'
import {
  createReplicatedFailureCounter,
  createReplicatedRequestCounter,
  stepOfLimit,
  type ReplicatedCount,
  type ReplicatedRequestCounter,
} from './replicated-counters.ts'
import type { PrimaryHandlers, ReplicaHandlers, WorkerOrder } from './worker-protocol.ts'
import type { QuotaHandlers } from './quota-server.ts'
import type { TurnHandlers } from './turn-server.ts'

/** A worker's handlers for the data from its primary, and the shared services made from it. */
export interface WorkerServices {
  readonly answers: ReplicaHandlers
  /** Call this after the primary has sent everything for the first time. */
  open(order: WorkerOrder): SharedServices
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
        links: { publishLocks: createTurnClient(primary()), growingUploads: requestCounter },
        requestCounter,
        customersState: () => ({ count: credentials.size }),
        reload: async () => true,
        close: async () => {},
      }
    },
  }
}

/** Whether `key` is that of a growing upload. Only these have two slashes. Other workers must know of it, or they may discard it. */
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

/** Verifies passwords in the primary: so their number is limited for all workers, which stay free for requests. */
function verifyElsewhere(primary: RpcChannel<PrimaryHandlers>): PasswordVerifier {
  return (password, passwordHash, { address = '', name = '', signal } = {}) =>
    primary.ask('verify', { name, address, password, passwordHash }, signal)
}

/** The claim of a customer without limits, for which the primary is not asked. */
const noClaim: QuotaClaim = {
  grow() {},
  stage() {},
  prepare: async () => {},
  settle() {},
  end() {},
}

/** A keeper whose accounts are in the primary; see `createQuotaServer`. */
export function createQuotaClient(primary: RpcChannel<QuotaHandlers>): QuotaKeeper {
  return {
    async claim(customer, name, size = 0, upload?: string) {
      if (!isLimited(customer)) return noClaim
      const claimed = { customer, name, size, ...(upload !== undefined && { upload }) }
      return remoteClaim(primary, await primary.ask('claim', claimed))
    },

    async free(customer, name, remove) {
      if (!isLimited(customer)) return remove()
      const { id } = await primary.ask('beginRemoval', { customer, name })
      try {
        const removed = await remove()
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

/** Locks that are kept in the primary; see `createTurnServer`. */
export function createTurnClient(primary: RpcChannel<TurnHandlers>): KeyedTurns {
  return async (key) => {
    const { id, ...turn } = await primary.ask('takeTurn', { key })
    return { ...turn, end: () => primary.notify('endTurn', { id }) }
  }
}
