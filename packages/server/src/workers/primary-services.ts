import {
  createKeyedCounter,
  createLoginBrake,
  type FailureCounter,
  type KeyedCounter,
  type LoginBrakeOptions,
  type LocalQuotaKeeper,
} from '@holdfast/core'
import type { SharedUseCounter } from '@holdfast/shared-redis'
import { failureKey } from '../login-failure-counter.ts'
import type { OwnServices } from '../serve/open-shared-services.ts'
import type { SharedState } from '../shared/open-shared-state.ts'
import type { ReadCertificate } from '../tls/open-certificate.ts'
import type { Answers, RpcChannel } from './rpc-channel.ts'
import { createQuotaServer } from './quota-server.ts'
import { createReplicatedFailureCounter, type ReplicatedFailure } from './replicated-counters.ts'
import { createHoldServers, createWorkerLocks, createLockServer } from './locks.ts'
import {
  mapSharedCounters,
  sharedCounters,
  type PerSharedCounter,
  type PrimaryHandlers,
  type ReplicaHandlers,
  type SentLinkKey,
  type SharedCount,
} from './worker-protocol.ts'

/** The primary's side of the shared services for one worker. */
export interface WorkerSession {
  readonly answers: PrimaryHandlers
  /** Sends the worker everything that it needs before it serves. */
  sendState(): void
  /** Frees everything that the worker held, after it has ended. */
  end(): void
}

export interface PrimaryServices {
  /** Makes the {@link WorkerSession} of the worker at the other end of `channel`. */
  openSession(channel: () => RpcChannel<ReplicaHandlers>): WorkerSession
  /** Sends the present customers to all workers. */
  sendCustomers(): void
}

/** What the server counts and locks together with others. It sets in the counters what its workers have reported. */
export interface CrossServerState extends Pick<SharedState, 'failures' | 'locks'> {
  /** Counters that are absent here are counted for each server alone. */
  readonly counters: Partial<PerSharedCounter<SharedUseCounter>>
}

/** Sent for an unknown customer; as long as most keys. */
const noKey = new Uint8Array(32)

/**
 * Shares the services of a server among its workers. Each worker gets the customers, the certificate, the failed logins, and how many
 * requests the others have under way. Workers ask the primary where only one process can decide: about logins, quotas and locks.
 *
 * With `shared`, workers of several servers count together: this process speaks to the other servers for all of its workers.
 */
export function createPrimaryServices(
  services: Omit<
    OwnServices,
    | 'linkFailures'
    | 'links'
    | 'requestCounters'
    | 'customersState'
    | 'customerWebhooks'
    | 'reload'
    | 'close'
  >,
  quotas: LocalQuotaKeeper,
  brakeOptions: Omit<LoginBrakeOptions, 'counter'> = {},
  { shared }: { readonly shared?: CrossServerState } = {},
): PrimaryServices {
  const { certificate, verifyPassword } = services
  const sessions = new Map<RpcChannel<ReplicaHandlers>, WorkerCounters>()
  const replicatedFailures = createReplicatedFailureCounter()
  const publishLocks = createWorkerLocks(shared?.locks)
  const createHoldServer = createHoldServers(() => sessions.keys())

  const report = (failure: ReplicatedFailure) => {
    replicatedFailures.apply(failure)
    for (const channel of sessions.keys()) channel.notify('failure', failure)
  }
  shared?.failures.all().forEach(report)
  shared?.failures.onFailure(report)
  // A guess is verified only after all servers have been asked. Workers read the replica, so that remembered passwords ask no one.
  const failures = shared?.failures.exact ?? reporting(services.failures, report)
  const brake = createLoginBrake({ counter: failures, ...brakeOptions })

  const sum = ({ counter, key }: CountKey) =>
    [...sessions.values()].reduce((total, counters) => total + counters[counter].count(key), 0)
  const sendCount = ({ counter, key }: CountKey) => {
    const all = sum({ counter, key }) + (shared?.counters[counter]?.countOfOthers(key) ?? 0)
    for (const [channel, counters] of sessions) {
      channel.notify('count', { counter, key, count: all - counters[counter].count(key) })
    }
  }
  /** Sends what has changed in this server. */
  const countChanged = ({ counter, key }: CountKey) => {
    shared?.counters[counter]?.set(key, sum({ counter, key }))
    sendCount({ counter, key })
  }
  for (const counter of sharedCounters) {
    shared?.counters[counter]?.onOthers((key) => sendCount({ counter, key }))
  }
  const ofOthers = mapSharedCounters((counter) => ({
    keys: () => shared?.counters[counter]?.keysOfOthers() ?? [],
  }))
  const customers = () => services.allCredentials()
  certificate?.onReplaced((next: ReadCertificate) => {
    for (const channel of sessions.keys()) channel.notify('certificate', next)
  })

  return {
    openSession(channel) {
      const quotaServer = createQuotaServer(quotas)
      const locks = createLockServer(publishLocks)
      const holds = createHoldServer(channel)
      const counters = mapSharedCounters(() => createKeyedCounter())
      return {
        answers: {
          ...quotaServer.answers,
          ...locks.answers,
          ...holds.answers,
          verify: ({ name, address, password, passwordHash }, signal) =>
            brake.attempt({ name, address, password, signal }, () =>
              verifyPassword(password, passwordHash, { address, signal }),
            ),
          async linkKey({ name }): Promise<SentLinkKey> {
            const key = await services.credentials.linkKey?.(name)
            const sent = Buffer.from(key ?? noKey).toString('base64')
            return { exists: key === undefined ? 0 : 1, key: sent }
          },
          linkFailed: ({ key }) => failures.add(key),
          count(change: SharedCount) {
            counters[change.counter].set(change.key, change.count)
            countChanged(change)
          },
        } satisfies Answers,
        sendState() {
          sessions.set(channel(), counters)
          holds.begin()
          if (certificate) channel().notify('certificate', certificate.current())
          channel().notify('customers', customers())
          for (const failure of replicatedFailures.all()) channel().notify('failure', failure)
          for (const each of nonZero([...sessions.values(), ofOthers])) sendCount(each)
        },
        end() {
          sessions.delete(channel())
          for (const each of nonZero([counters])) countChanged(each)
          quotaServer.end()
          locks.end()
          holds.end()
        },
      }
    },
    sendCustomers() {
      for (const channel of sessions.keys()) channel.notify('customers', customers())
    },
  }
}

/** What one worker has reported of each of the shared counters. */
type WorkerCounters = PerSharedCounter<KeyedCounter>

type CountKey = Omit<SharedCount, 'count'>

/** The counts that are not 0 in one of these. */
function nonZero(
  all: readonly PerSharedCounter<Pick<KeyedCounter, 'keys'>>[],
): readonly CountKey[] {
  return sharedCounters.flatMap((counter) => {
    const keys = new Set(all.flatMap((counters) => counters[counter].keys()))
    return [...keys].map((key) => ({ counter, key }))
  })
}

/** `counter`, each of whose failures is reported before it resolves. */
function reporting(
  counter: FailureCounter,
  report: (failure: ReplicatedFailure) => void,
): FailureCounter {
  return {
    read: (key) => counter.read(key),
    async add(key) {
      await counter.add(key)
      report({ key: failureKey(key), ...(await counter.read(key)) })
    },
  }
}
