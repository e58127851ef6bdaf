import type { Advice, Credential } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import type { MetricValues } from '../serve/server-watch.ts'
import type { ReadCertificate } from '../tls/open-certificate.ts'
import type { QuotaHandlers } from './quota-server.ts'
import type { HoldHandlers, HoldingHandlers, LockHandlers } from './locks.ts'
import type { ReplicatedFailure, ReplicatedCount } from './replicated-counters.ts'

/** What a worker gets at its start. */
export interface WorkerStart {
  readonly config: Omit<Config, 'readSecret'>
  /** The number of the worker, from 0; no two running workers have the same. */
  readonly number: number
}

/** The primary's handlers for the reports of a starting worker. */
export type StartHandlers = {
  begin(nothing: object): WorkerStart
  listening(server: { readonly url: string }): void
  /** The worker cannot start. `isMistake`: the administrator can correct the cause. */
  failed(why: Advice & { readonly isMistake: boolean }): void
}

/** The worker's handlers for the requests of its primary. */
export type WorkerHandlers = ReplicaHandlers & {
  /** Answers while the process works. */
  alive(nothing: object): boolean
  reload(nothing: object): Promise<boolean>
  /** The metrics of the worker; `undefined` if it does not measure. */
  metrics(nothing: object): Promise<MetricValues | undefined>
  /** Closes the server; see `RunningServer`. */
  close(nothing: object): Promise<boolean>
  /** Ends the grace time of `close` at once. */
  hurry(nothing: object): void
}

/** A password that a client presents, and the hash that it must match. */
export interface Verification {
  readonly name: string
  readonly address: string
  readonly password: string
  readonly passwordHash?: string | undefined
}

/** As long for an unknown customer as for others: the time of a request by a link must not reveal which customers exist. */
export interface SentLinkKey {
  /** Whether there is such a customer; if not, the key is meaningless. */
  readonly exists: 0 | 1
  /** In Base64. */
  readonly key: string
}

/** The names of the counters that all workers share: those of requests under way, and of links' uploads to which bytes are added. */
export const sharedCounters = [
  'all',
  'byLinks',
  'perCustomer',
  'byLinksPerCustomer',
  'byLinksPerNetwork',
  'growingUploads',
] as const

type SharedCounter = (typeof sharedCounters)[number]

/** Something of each of the {@link sharedCounters}. */
export type PerSharedCounter<Item> = Readonly<Record<SharedCounter, Item>>

export function mapSharedCounters<Item>(
  make: (counter: SharedCounter) => Item,
): PerSharedCounter<Item> {
  const entries = sharedCounters.map((counter) => [counter, make(counter)] as const)
  return Object.fromEntries(entries) as PerSharedCounter<Item>
}

/** A change of one of the {@link sharedCounters}. */
export interface SharedCount extends ReplicatedCount {
  readonly counter: SharedCounter
}

/** The primary's handlers for the shared services. */
export type PrimaryHandlers = QuotaHandlers &
  LockHandlers &
  HoldHandlers & {
    verify(verification: Verification, signal: AbortSignal): Promise<boolean>
    /** The key for links of the customer called `name`. */
    linkKey(customer: { readonly name: string }): Promise<SentLinkKey>
    /** Counts a wrong link. */
    linkFailed(failure: { readonly key: string }): Promise<void>
    count(change: SharedCount): void
  }

/** The worker's handlers for the data that its primary sends. */
export type ReplicaHandlers = HoldingHandlers & {
  customers(credentials: readonly Credential[]): void
  certificate(certificate: ReadCertificate): void
  failure(failure: ReplicatedFailure): void
  count(change: SharedCount): void
}
